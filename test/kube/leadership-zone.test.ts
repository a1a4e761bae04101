import { expect } from "vitest";
import { requireOwnZone } from "../../src/activities/shoot/leadership-zone.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden } from "../support/garden-objects.ts";

const leadership = (domain: string, name = "leadership") => ({
  domain,
  type: "rfc2136",
  secret: { namespace: "garden", name },
});

test.beforeAll(async ({ cluster }) => await applyGarden(cluster.client));

test("leadership records are kept beside the domains of the Seeds, under a key of their own", async ({ cluster }) => {
  await requireOwnZone(cluster.client, leadership("leadership-perennial.test"));
});

// A seed has the keys of these domains, and could name itself, or another name server for what is below.
test.for([
  ["a default domain", "leadership.perennial.test", "perennial.test"],
  ["a default domain, in other letters", "Leadership.Perennial.Test.", "perennial.test"],
  ["an internal domain", "leadership.internal.perennial.test", "internal.perennial.test"],
])("leadership records are not kept in %s of a Seed", async ([, domain = "", above], { cluster }) => {
  await expect(requireOwnZone(cluster.client, leadership(domain))).rejects.toThrow(
    `lies in domain ${above}, of which Seed`,
  );
});

test("leadership records are not written with a Seed's credentials", async ({ cluster }) => {
  const shared = leadership("elsewhere.test", "dns");
  await expect(requireOwnZone(cluster.client, shared)).rejects.toThrow("give it a key of its own");
});

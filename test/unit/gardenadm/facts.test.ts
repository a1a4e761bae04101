import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CloudProfile, Project, Shoot } from "../../../src/api/index.ts";
import { readFacts } from "../../../src/gardenadm/reconcile/facts.ts";
import { Node, refOf, typeMeta } from "../../../src/kube/index.ts";
import { createDirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { exampleConfiguration } from "../../support/configuration.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "facts-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.each([
  ["a node that has just joined has none", { Ready: "False" }, true],
  ["a ready node of a plugin that says no more has one", { Ready: "True" }, false],
  ["a ready node whose routes are still to come has none", { Ready: "True", NetworkUnavailable: "True" }, true],
  ["a node with routes has one", { Ready: "True", NetworkUnavailable: "False" }, false],
  ["a node that has just booted again still has one", { Ready: "Unknown", NetworkUnavailable: "False" }, false],
])("of the pod network: %s", async (_, said, isMissing) => {
  const client = createDirectoryClient({ directory });
  const conditions = Object.entries(said).map(([type, status]) => ({ type, status }));
  const node = await client.create({ ...typeMeta(Node), metadata: { name: "a" } });
  await client.patch(refOf(node), { status: { conditions } }, { subresource: "status" });
  expect((await readFacts(client, configuration())).podNetworkMissing).toBe(isMissing);
  await client.close();
});

function configuration() {
  const [shoot, project, cloudProfile] = exampleConfiguration();
  return {
    ...{ folder: "", objects: [] },
    shoot: Shoot.parse(shoot),
    project: Project.schema.parse(project),
    cloudProfile: CloudProfile.schema.parse(cloudProfile),
  };
}

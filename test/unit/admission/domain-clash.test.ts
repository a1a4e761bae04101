import { expect, test } from "vitest";
import { domainCauses, reservationCauses } from "../../../src/admission/shoot/domain.ts";
import { DomainReservation, Shoot } from "../../../src/api/index.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const namespace = "garden-dev";

const shoot = (metadata: { readonly namespace: string; readonly name: string }, domain: string): Shoot =>
  ({ ...typeMeta(Shoot), metadata, spec: { dns: { domain } } }) as Shoot;

const greedy = shoot({ namespace, name: "greedy" }, "co.uk");
const reserved: DomainReservation = {
  ...typeMeta(DomainReservation),
  metadata: { name: "org.uk" },
  spec: { domain: "org.uk", shootRef: { namespace, name: "heir" } },
};

/** Whether a new Shoot of a namespace may have a domain; the same holds of a reservation for it. */
async function mayHave(domain: string, of: string): Promise<boolean> {
  const { client } = keepObjects(greedy, reserved);
  const metadata = { namespace: of, name: "new" };
  const written = await domainCauses(client, { shoot: shoot(metadata, domain) } as never, "any");
  const claim = { field: "spec.domain", domain, shoot: metadata, project: "any" };
  expect((await reservationCauses(client, claim)).length).toBe(written.length);
  return written.length === 0;
}

test.each(["bakery.co.uk", "bakery.org.uk", "uk", "ingress.bakery.co.uk"])(
  "a project may have %s, above or below what another has, and the other's own Shoots may not",
  async (domain) => {
    expect(await mayHave(domain, "garden-other")).toBe(true);
    expect(await mayHave(domain, namespace)).toBe(false);
  },
);

test.each(["co.uk", "CO.UK.", "api.co.uk", "a.api.org.uk", "ingress.co.uk", "a.b.ingress.co.uk"])(
  "no project may have %s, where another's Shoot has records",
  async (domain) => expect(await mayHave(domain, "garden-other")).toBe(false),
);

test("no project may have a domain of whose API server another's Shoot has the name", async () => {
  const { client } = keepObjects(shoot({ namespace, name: "inner" }, "api.example.com"));
  const metadata = { namespace: "garden-other", name: "new" };
  const causes = await domainCauses(client, { shoot: shoot(metadata, "example.com") } as never, "any");
  expect(causes).toMatchObject([{ message: expect.stringContaining("overlaps") as string }]);
});

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

test("of two reservations that overlap, as they were written at once, the older counts, and of two of one second the first by name", async () => {
  const reservation = (domain: string, name: string, creationTimestamp: string): DomainReservation => ({
    ...typeMeta(DomainReservation),
    metadata: { name: domain, creationTimestamp },
    spec: { domain, shootRef: { namespace, name } },
  });
  const causesOf = async (reservations: readonly DomainReservation[], name: string, domain: string) => {
    const { client } = keepObjects(...reservations);
    return await domainCauses(client, { shoot: shoot({ namespace, name }, domain) } as never, "any");
  };
  for (const [above, below, first] of [
    ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "above"],
    ["2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z", "below"],
    ["2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z", "below"],
  ] as const) {
    const both = [reservation("example.org", "above", above), reservation("a.example.org", "below", below)];
    for (const order of [both, both.toReversed()]) {
      expect(await causesOf(order, "above", "example.org")).toHaveLength(first === "above" ? 0 : 1);
      expect(await causesOf(order, "below", "a.example.org")).toHaveLength(first === "below" ? 0 : 1);
    }
  }
});

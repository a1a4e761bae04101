import { expect, test } from "vitest";
import { zonesOfControlPlane } from "../../../src/api/placement/zones.ts";
import { Seed, type Shoot } from "../../../src/api/index.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const { seed: example } = exampleContext();

const seedIn = (zones: readonly string[] | undefined, mode?: string): Seed =>
  Seed.parse({
    ...example,
    spec: {
      ...example.spec,
      provider: { ...example.spec.provider, zones },
      ...(mode && { settings: { zoneSelection: { mode } } }),
    },
  });
const highlyAvailable = (type: string) =>
  exampleShoot({ controlPlane: { highAvailability: { failureTolerance: { type } } } } as Partial<Shoot["spec"]>);
const workersIn = (...zones: string[]) => {
  const { provider } = exampleShoot().spec;
  return exampleShoot({
    provider: { ...provider, workers: (provider.workers ?? []).map((pool) => ({ ...pool, zones })) },
  });
};
const uids = Array.from({ length: 60 }, (_, index) => `uid-${index}`);
const zones = ["a", "b", "c", "d"];

test("a control plane is in one of its Seed's zones, and those of many Shoots are in all of them", () => {
  const chosen = uids.map((uid) => zonesOfControlPlane(exampleShoot(), seedIn(zones), uid, []));
  expect(new Set(chosen.map(({ length }) => length))).toEqual(new Set([1]));
  expect(new Set(chosen.flat())).toEqual(new Set(zones));
});

test("one that outlives a zone is in three; one that outlives a node in one", () => {
  expect(zonesOfControlPlane(highlyAvailable("zone"), seedIn(zones), "uid", [])).toHaveLength(3);
  expect(zonesOfControlPlane(highlyAvailable("node"), seedIn(zones), "uid", [])).toHaveLength(1);
});

test("what was chosen stays when the Seed gets more zones, and when more are needed", () => {
  for (const uid of uids) {
    const before = zonesOfControlPlane(exampleShoot(), seedIn(["a", "b"]), uid, []);
    expect(zonesOfControlPlane(exampleShoot(), seedIn(zones), uid, before)).toEqual(before);
    expect(zonesOfControlPlane(highlyAvailable("zone"), seedIn(zones), uid, before)).toEqual(
      expect.arrayContaining(before),
    );
  }
});

test.each([
  ["those that the Shoot names", exampleShoot({ controlPlane: { zones: ["c"] } }), undefined, ["c"]],
  ["those of its workers, where the Seed prefers them", workersIn("d"), "Prefer", ["d"]],
  ["those of its workers, where the Seed insists on them", workersIn("b", "elsewhere"), "Enforce", ["b"]],
])("it is in %s", (_, shoot, mode, expected) => {
  for (const uid of uids) expect(zonesOfControlPlane(shoot, seedIn(zones, mode), uid, [])).toEqual(expected);
});

test("workers elsewhere leave every zone of the Seed open", () => {
  const chosen = uids.flatMap((uid) => zonesOfControlPlane(workersIn("x"), seedIn(zones, "Prefer"), uid, []));
  expect(new Set(chosen)).toEqual(new Set(zones));
});

test("a Seed without zones has none for it", () => {
  expect(zonesOfControlPlane(exampleShoot(), seedIn(undefined), "uid", ["a"])).toEqual([]);
});

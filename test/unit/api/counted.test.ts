import { expect, it } from "vitest";
import { counted, listed } from "../../../src/api/counted.ts";
import { zoneObstacles } from "../../../src/api/placement/zones.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";

it("a single thing is counted as one, and all other numbers of things as many", () => {
  expect([0, 1, 2].map((count) => counted(count, "zone"))).toEqual(["0 zones", "1 zone", "2 zones"]);
  expect([1, 2].map((count) => counted(count, "BackupEntry is", "BackupEntries are"))).toEqual([
    "1 BackupEntry is",
    "2 BackupEntries are",
  ]);
});

it("a list names the first, and says how many it leaves out", () => {
  expect([["a"], ["a", "b"], ["a", "b", "c", "d"]].map((names) => listed(names, 2))).toEqual([
    "a",
    "a, b",
    "a, b and 2 more",
  ]);
});

it("a Seed in one zone is said to have 1 zone", () => {
  const shoot = movableShoot();
  const highAvailability = { failureTolerance: { type: "zone" } } as const;
  const seed = readySeed("seed-1", new Date());
  const inOneZone = { ...seed, spec: { ...seed.spec, provider: { ...seed.spec.provider, zones: ["a"] } } };
  const [obstacle] = zoneObstacles(
    { ...shoot, spec: { ...shoot.spec, controlPlane: { highAvailability } } },
    inOneZone,
  );
  expect(obstacle?.message).toContain("Seed seed-1 has 1 zone, and");
});

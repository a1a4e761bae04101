import { describe, expect, it } from "vitest";
import type { Seed, Shoot } from "../../../src/api/index.ts";
import { migrationObstacles, type MigrationFacts } from "../../../src/api/placement/migration.ts";
import { describeMove, moveOf, neededSource } from "../../../src/api/placement/move.ts";
import { parseTakeover } from "../../../src/api/placement/takeover.ts";
import { movableShoot, readySeed, seedReady } from "../../support/migration-objects.ts";

const now = new Date("2026-11-21T10:10:00Z");

describe("what stands against a migration", () => {
  it("is nothing where everything is in order", () => {
    expect(obstacles()).toEqual([]);
  });

  it.each<[string, Partial<MigrationFacts>, string, string]>([
    ["there is no such Seed", { destination: undefined }, "spec.seedName", "there is no Seed seed-2"],
    [
      "its own Seed was taken away",
      { source: undefined },
      "status.seedName",
      "there is no Seed seed-1, which the Shoot leaves: create its object again",
    ],
    ["the destination goes", { destination: seed({}, { deletionTimestamp: at(0) }) }, "spec.seedName", "being deleted"],
    [
      "the destination has stopped everything",
      { destination: seed({}, { annotations: { "shoot.gardener.cloud/emergency-stop-reconciliations": "true" } }) },
      "spec.seedName",
      "has stopped all operations: remove its annotation",
    ],
    [
      "the destination has no key yet for what is kept of the Shoot",
      { destination: { ...seed({}), status: { conditions: [seedReady(now)] } } },
      "spec.seedName",
      "Seed seed-2 has published no key",
    ],
    [
      "the destination's worker is silent",
      { now: new Date("2026-11-21T10:13:00Z") },
      "spec.seedName",
      "Seed seed-2 is not ready: its worker was last heard of 180 s ago",
    ],
    [
      "the destination's worker was never heard of",
      { destination: { ...readySeed("seed-2", now), status: {} } },
      "spec.seedName",
      "its worker was never heard of",
    ],
    [
      "the destination keeps no backups",
      { destination: seed({ backup: undefined }) },
      "spec.seedName",
      "Seed seed-2 keeps no backups",
    ],
    [
      "the source keeps no backups",
      { source: withSpec(readySeed("seed-1", now), { backup: undefined }) },
      "status.seedName",
      "Seed seed-1 keeps no backups, in which the Shoot's etcd travels: set its spec.backup",
    ],
    [
      "backups are a claim here and in an object store there",
      { destination: seed({ backup: { provider: "aws", region: "eu-west-1" } }) },
      "spec.seedName",
      "Seed seed-1 keeps backups in a claim (local), Seed seed-2 in an object store (aws)",
    ],
    [
      "networks overlap",
      { destination: seed({ networks: { pods: "10.180.4.0/24", services: "10.229.0.0/16" } }) },
      "spec.networking.pods",
      "10.180.0.0/16 overlaps with 10.180.4.0/24 of Seed seed-2 (spec.networks.pods)",
    ],
    [
      "the destination has a taint",
      { destination: seed({ taints: [{ key: "seed.gardener.cloud/protected" }] }) },
      "spec.seedName",
      "has taint seed.gardener.cloud/protected",
    ],
    [
      "the API server's name would change",
      { destination: seed({ dns: { internal: { ...dns, domain: "internal.other.test" } } }) },
      "spec.seedName",
      "the internal domain of Seed seed-2 is internal.other.test",
    ],
    [
      "there is no leadership record",
      { shoot: status({ leadership: undefined }) },
      "status.leadership",
      "two Seeds could act",
    ],
    [
      "the Shoot goes",
      { shoot: shoot({ deletionTimestamp: at(0) }) },
      "metadata.deletionTimestamp",
      "is being deleted",
    ],
    [
      "the Shoot is not there yet",
      { shoot: status({ lastOperation: operation("Create", "Processing") }) },
      "status.lastOperation",
      "has not been created yet",
    ],
    [
      "a Restore is running",
      { shoot: status({ lastOperation: operation("Restore", "Processing") }) },
      "status.lastOperation",
      "is being restored on Seed seed-1, where there is only forward",
    ],
    [
      "another migration is running",
      { shoot: { ...movableShoot(), spec: { ...movableShoot().spec, seedName: "seed-3" } } },
      "status.lastOperation",
      "is moving from Seed seed-1 to Seed seed-3: wait until it is there, or call it back: perennial shoot migrate garden-dev/local --cancel",
    ],
    [
      "it is there already",
      { to: "seed-1", destination: readySeed("seed-1", now) },
      "spec.seedName",
      "is on Seed seed-1",
    ],
    [
      "the destination has leftovers",
      { shoot: status({ seeds: ["seed-1", "seed-2"] }) },
      "status.seeds",
      "Seed seed-2 still holds leftovers",
    ],
  ])("is said when %s", (_, change, field, message) => {
    expect(obstacles(change)).toEqual([expect.objectContaining({ field, message: expect.stringContaining(message) })]);
  });

  it("is said all at once", () => {
    const destination = seed({ backup: undefined, networks: { pods: "10.180.0.0/16", services: "10.190.0.0/16" } });
    const shoot = status({ leadership: undefined });
    expect(obstacles({ destination, shoot }).map(({ field }) => field)).toEqual([
      "status.leadership",
      "spec.seedName",
      "spec.networking.pods",
      "spec.networking.services",
    ]);
  });

  it("is not that the Shoot sleeps: its etcd is woken up for a snapshot", () => {
    const asleep = status({ hibernated: true });
    expect(obstacles({ shoot: { ...asleep, spec: { ...asleep.spec, hibernation: { enabled: true } } } })).toEqual([]);
  });

  it("may pass by itself when the destination is silent, and does not when there is no backup", () => {
    const silent = { ...readySeed("seed-2", now), status: {} };
    expect(obstacles({ destination: silent })).toMatchObject([{ transient: true }]);
    expect(obstacles({ destination: seed({ backup: undefined }) })[0]).not.toHaveProperty("transient");
  });

  it("does not include the migration itself once it runs", () => {
    const shoot = { ...status({ lastOperation: operation("Migrate", "Processing"), seeds: ["seed-1", "seed-2"] }) };
    const moving = { ...shoot, spec: { ...shoot.spec, seedName: "seed-2" } };
    expect(obstacles({ shoot: moving, underway: true })).toEqual([]);
  });

  it("is that nothing was kept of a Shoot whose Seed is gone", () => {
    expect(obstacles({ takeover: true, kept: { state: true, snapshot: true } })).toEqual([]);
    expect(obstacles({ takeover: true, kept: { state: false, snapshot: false } })[0]?.message).toContain(
      "there is no ShootState garden-dev/local",
    );
    expect(obstacles({ takeover: true, kept: { state: true, snapshot: false } })[0]?.message).toContain(
      "names no snapshot of etcd",
    );
    expect(obstacles({ kept: { state: false, snapshot: false } })).toEqual([]);
  });

  it("is a state that does not fit into the garden, unless there is nothing else to be had", () => {
    const kept = { state: true, snapshot: true, problem: "the Shoot's state is too large" };
    expect(obstacles({ kept })).toEqual([{ field: "metadata.name", message: "the Shoot's state is too large" }]);
    expect(obstacles({ takeover: true, kept })).toEqual([]);
  });
});

describe("what stands against going on to another Seed", () => {
  const arriving = (change: object = {}) =>
    status({
      seedName: "seed-1",
      seeds: ["seed-0", "seed-1"],
      leadership: { ...leadership("seed-1", 2), previousSeed: "seed-0", leaving: 1 },
      lastOperation: operation("Restore", "Processing"),
      ...change,
    });

  it("is nothing once a takeover from the Seed where the Shoot is being restored is approved", () => {
    expect(obstacles({ shoot: arriving(), takeover: true })).toEqual([]);
    expect(
      obstacles({ shoot: arriving({ lastOperation: operation("Migrate", "Succeeded") }), takeover: true }),
    ).toEqual([]);
  });

  it("is the Restore without such an approval, which is how it says what helps", () => {
    expect(obstacles({ shoot: arriving() })[0]?.message).toContain(
      "or if that Seed is dead: perennial shoot migrate garden-dev/local --to SEED --force-takeover --reason TEXT",
    );
  });

  it("is what the Shoot has left on the way: it is cleaned up only after the Shoot has arrived", () => {
    const back = { to: "seed-0", destination: readySeed("seed-0", now), shoot: arriving(), takeover: true };
    expect(obstacles(back)).toMatchObject([
      { field: "status.seeds", message: expect.stringContaining("cleaned up once it has arrived somewhere") as string },
    ]);
    const here = { to: "seed-1", destination: readySeed("seed-1", now), shoot: arriving(), takeover: true };
    expect(obstacles(here)).toMatchObject([{ field: "spec.seedName", message: expect.stringContaining("is on Seed") }]);
  });

  it("is that the Shoot is just leaving: it can be called back", () => {
    const leaving = arriving({ lastOperation: operation("Migrate", "Processing") });
    const shoot = { ...leaving, spec: { ...leaving.spec, seedName: "seed-3" } };
    expect(obstacles({ shoot, takeover: true })).toMatchObject([{ field: "status.lastOperation" }]);
  });
});

describe("a Shoot on its way", () => {
  it("is leaving until another Seed leads, and moving until it is restored", () => {
    const asked = { ...movableShoot(), spec: { ...movableShoot().spec, seedName: "seed-2" } };
    expect(moveOf(movableShoot())).toEqual({ is: "settled", leader: "seed-1" });
    expect(moveOf(asked)).toMatchObject({ is: "leaving", source: "seed-1", destination: "seed-2" });
    const flipped = {
      ...asked,
      status: {
        ...asked.status,
        seedName: "seed-2",
        leadership: { ...leadership("seed-2", 2), previousSeed: "seed-1" },
        lastOperation: operation("Migrate", "Processing"),
      },
    };
    const arriving = moveOf(flipped);
    expect(arriving).toMatchObject({ is: "arriving", source: "seed-1", destination: "seed-2" });
    expect(describeMove(flipped.metadata, arriving)).toContain("restored on Seed seed-2, where there is only forward");
  });

  it("needs its old Seed until that was taken over from, or the Shoot is back where it never left", () => {
    const lastOperation = operation("Restore", "Processing");
    const restored = (change: object) =>
      status({ lastOperation, leadership: { ...leadership("seed-1", 2), previousSeed: "seed-2", ...change } });
    const needs = (shoot: Shoot) => neededSource(moveOf(shoot));
    expect(needs(movableShoot())).toBeUndefined();
    expect(needs(restored({}))).toBe("seed-2");
    expect(needs(restored({ takeover: true }))).toBeUndefined();
    expect(needs(restored({ leaving: 2 }))).toBeUndefined();
    expect(needs(restored({ leaving: 1 }))).toBe("seed-2");
    const annotations = { "perennial.dev/cancel-migration": "true" };
    const calledBack = (change: object) => ({
      ...restored(change),
      metadata: { ...movableShoot().metadata, annotations },
    });
    expect(needs(calledBack({ leaving: 2 }))).toBeUndefined();
    expect(needs(calledBack({ leaving: 2, previousSeed: undefined }))).toBeUndefined();
    expect(moveOf(calledBack({ leaving: 1 }))).toMatchObject({ is: "arriving", source: "seed-2" });
    expect(needs(calledBack({ leaving: 1 }))).toBe("seed-2");
    expect(moveOf(calledBack({ leaving: 2 }))).toEqual({ is: "returning", leader: "seed-1" });
  });

  it("which has no control plane yet just changes its Seed", () => {
    const { status: _, ...fresh } = movableShoot();
    expect(moveOf({ ...fresh, spec: { ...fresh.spec, seedName: "seed-9" } })).toMatchObject({ is: "settled" });
  });
});

describe("an approval of a takeover", () => {
  it.each([
    ['{"reason": "seed-1 burnt down", "sourceIsOff": true}', { reason: "seed-1 burnt down", sourceIsOff: true }],
    ['{"reason": " x ", "by": 1, "more": 2}', { reason: "x" }],
    ['{"reason": ""}', undefined],
    ["true", undefined],
    ["null", undefined],
    ["because", undefined],
    ["", undefined],
  ])("in %s reads %j", (text, approval) => {
    expect(parseTakeover(text)).toEqual(approval);
  });
});

function obstacles(change: Partial<MigrationFacts> = {}) {
  const [source, destination] = [readySeed("seed-1", now), readySeed("seed-2", now)];
  return migrationObstacles({ shoot: movableShoot(), to: "seed-2", source, destination, now, ...change });
}

const dns = { type: "rfc2136", credentialsRef: { apiVersion: "v1", kind: "Secret", name: "dns", namespace: "garden" } };

function seed(spec: Partial<Record<keyof Seed["spec"], unknown>>, metadata: Partial<Seed["metadata"]> = {}): Seed {
  const found = readySeed("seed-2", now);
  return withSpec({ ...found, metadata: { ...found.metadata, ...metadata } }, spec);
}

function withSpec(found: Seed, spec: Partial<Record<keyof Seed["spec"], unknown>>): Seed {
  return { ...found, spec: { ...found.spec, ...spec } as Seed["spec"] };
}

function shoot(metadata: Partial<Shoot["metadata"]>): Shoot {
  return { ...movableShoot(), metadata: { ...movableShoot().metadata, ...metadata } };
}

function status(change: Partial<Record<keyof NonNullable<Shoot["status"]>, unknown>>): Shoot {
  return { ...movableShoot(), status: { ...movableShoot().status, ...change } as Shoot["status"] };
}

function leadership(name: string, epoch: number) {
  return { record: "local.dev.leadership.perennial.test", seed: name, epoch, leaseSeconds: 60 };
}

function operation(type: "Create" | "Migrate" | "Restore", state: "Processing" | "Succeeded") {
  return { type, state, progress: 50, description: "", lastUpdateTime: at(0) };
}

function at(seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}

import { describe, expect, it } from "vitest";
import type { ShootView } from "../../../src/activities/index.ts";
import { cleanUpsOf, decide, operationType, supersedes } from "../../../src/workflows/decide.ts";
import { shootRun } from "../../support/shoot-run.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const hour = 3_600_000;
const { operation: _, ...run } = shootRun({ generation: 3 });

const succeeded = { type: "Reconcile", state: "Succeeded", lastUpdateTime: "2026-01-01T11:30:00Z" } as const;
const view = (change: Partial<ShootView>): ShootView => ({
  generation: 3,
  observedGeneration: 3,
  deleting: false,
  finalizer: true,
  initialised: true,
  ignored: false,
  leftovers: [],
  syncPeriod: hour,
  lastOperation: succeeded,
  run,
  ...change,
});
const { lastOperation: __, ...fresh } = view({});

describe("the workflow of a Shoot", () => {
  it("creates a Shoot that has had no operation", () => {
    expect(decide(fresh, now, 0)).toMatchObject({ do: "operate", run: { operation: "Create" } });
  });
  it("waits for the rest of the sync period, and up to a tenth of it longer", () => {
    const until = "the next Reconcile is due";
    expect(decide(view({}), now, 0)).toEqual({ do: "wait", for: hour / 2, until });
    expect(decide(view({}), now, 1)).toEqual({ do: "wait", for: hour / 2 + hour / 10, until });
  });
  it("reconciles a new generation at once", () => {
    expect(decide(view({ generation: 4 }), now, 0)).toMatchObject({ do: "operate", run: { operation: "Reconcile" } });
  });
  it("calls an operation periodic that repeats what has succeeded, and no other", () => {
    const periodicOf = (change: Partial<ShootView>) => {
      const decision = decide(view(change), now + hour, 0);
      return decision.do === "operate" ? decision.run.periodic : "none";
    };
    expect(periodicOf({})).toBe(true);
    expect(periodicOf({ lastOperation: { ...succeeded, type: "Create" } })).toBe(true);
    expect(periodicOf({ request: "reconcile" })).toBeUndefined();
    expect(periodicOf({ generation: 4 })).toBeUndefined();
    expect(periodicOf({ moving: "Migrate" })).toBeUndefined();
    expect(periodicOf({ deleting: true })).toBeUndefined();
    expect(periodicOf({ lastOperation: { ...succeeded, state: "Error" } })).toBeUndefined();
    expect(periodicOf({ run: { ...run, tasks: "deployInfrastructure" } })).toBeUndefined();
  });
  it.each(["reconcile", "retry", "rotate-ssh-keypair;reconcile"])("answers the request %s", (request) => {
    expect(decide(view({ request }), now, 0)).toMatchObject({ do: "operate", request });
  });
  it("reconciles at once when data of an etcd were found damaged after the last operation, and not because of what that has mended", () => {
    const damaged = { run: { ...run, etcdDamaged: true } as const };
    const found = decide(view({ ...damaged, etcdDamagedSince: "2026-01-01T11:31:00Z" }), now, 0);
    expect(found).toMatchObject({ do: "operate", run: { operation: "Reconcile", etcdDamaged: true } });
    expect(found.do === "operate" && found.run.periodic).toBeUndefined();
    expect(decide(view({ ...damaged, etcdDamagedSince: "2026-01-01T11:29:00Z" }), now, 0)).toMatchObject({
      do: "wait",
    });
  });
  it("pauses before it mends again what its seed says to have found later than now", () => {
    const damaged = { run: { ...run, etcdDamaged: true } as const, etcdDamagedSince: "9999-01-01T00:00:00Z" };
    const ended = (secondsAgo: number) => ({
      ...succeeded,
      lastUpdateTime: new Date(now - secondsAgo * 1_000).toISOString(),
    });
    expect(decide(view({ ...damaged, lastOperation: ended(1) }), now, 0)).toMatchObject({ do: "wait", for: 59_000 });
    expect(decide(view({ ...damaged, lastOperation: ended(60) }), now, 0)).toMatchObject({ do: "operate" });
  });
  it("leaves a failed Shoot alone until an operation is requested", () => {
    const failed = { ...succeeded, state: "Failed" };
    expect(decide(view({ lastOperation: failed }), now, 0)).toEqual({
      do: "wait",
      for: hour,
      until: "a failed Shoot changes",
    });
    expect(decide(view({ lastOperation: failed, request: "retry" }), now, 0)).toMatchObject({ do: "operate" });
    expect(decide(view({ lastOperation: failed, generation: 4 }), now, 0)).toMatchObject({ do: "operate" });
  });
  it("goes on at once with what did not end", () => {
    const lastOperation = { type: "Create", state: "Processing", lastUpdateTime: succeeded.lastUpdateTime } as const;
    expect(decide(view({ lastOperation }), now, 0)).toMatchObject({ do: "operate", run: { operation: "Create" } });
  });
  it("lets a Shoot go that never began, or whose deletion is done, without asking a seed", () => {
    expect(decide(view({ deleting: true, initialised: false }), now, 0)).toEqual({ do: "release" });
    const lastOperation = { ...succeeded, type: "Delete" } as const;
    expect(decide(view({ deleting: true, lastOperation }), now, 0)).toEqual({ do: "release" });
  });
  it("deletes even a Shoot that has failed", () => {
    const lastOperation = { ...succeeded, state: "Failed" };
    expect(decide(view({ deleting: true, lastOperation }), now, 0)).toMatchObject({ run: { operation: "Delete" } });
  });
  it("wakes a hibernated Shoot to delete it: its users' objects are deleted through its API server", () => {
    const asleep = { ...run, hibernated: true };
    expect(decide(view({ run: asleep, deleting: true }), now, 0)).toMatchObject({
      run: { operation: "Delete", hibernated: false },
    });
    expect(decide(view({ run: asleep, generation: 4 }), now, 0)).toMatchObject({ run: { hibernated: true } });
  });
  it("deletes by force once the Shoot's owner asks for it, also in the middle of a deletion, and then sees that through", () => {
    const forced = { ...run, forced: true } as const;
    const running = { ...run, operation: "Delete" } as const;
    expect(decide(view({ deleting: true, run: forced }), now, 0)).toMatchObject({
      run: { operation: "Delete", forced: true },
    });
    expect(supersedes(view({ deleting: true, run: forced }), running)).toBe(true);
    expect(supersedes(view({ deleting: true, run: forced }), { ...running, forced: true })).toBe(false);
    expect(supersedes(view({ deleting: true }), running)).toBe(false);
  });
  it.each([
    ["to be reconciled", { generation: 4 }],
    ["to be deleted", { deleting: true }],
    ["to be let go", { deleting: true, lastOperation: { ...succeeded, type: "Delete" } }],
    ["to be moved", { moving: "Migrate" }],
  ] as const)("leaves a Shoot alone that is ignored, also where it is %s", (_, change) => {
    expect(decide(view({ ignored: true, ...change }), now, 0)).toMatchObject({ do: "wait", for: hour });
  });
  it("goes on with a move at once, whatever else is asked for", () => {
    const lastOperation = { type: "Migrate", state: "Failed", lastUpdateTime: succeeded.lastUpdateTime } as const;
    for (const change of [{}, { deleting: true }, { request: "reconcile" }])
      expect(decide(view({ moving: "Restore", lastOperation, ...change }), now, 0)).toMatchObject({
        run: { operation: "Restore" },
      });
  });
  it("does not let a deleted Shoot go before every seed is cleaned up", () => {
    const lastOperation = { ...succeeded, type: "Delete" } as const;
    expect(decide(view({ deleting: true, lastOperation, leftovers: ["seed-2"] }), now, 0)).toEqual({
      do: "wait",
      for: 60_000,
      until: "Seeds that it has left are cleaned up: seed-2",
    });
  });
  it("reports what keeps an operation from beginning", () => {
    const { run: _run, ...without } = view({ problem: { message: "no seed", codes: [] } });
    expect(decide(without, now, 0)).toEqual({ do: "report" });
  });
});

describe("a running operation", () => {
  it.each<[string, Partial<ShootView>, boolean]>([
    ["nothing new", {}, false],
    ["a new generation", { generation: 4 }, true],
    ["a deletion", { deleting: true }, true],
    ["a retry", { request: "retry" }, false],
    ["a reconcile while it runs", { request: "reconcile" }, false],
    ["a later epoch", { run: { ...run, epoch: 2 } }, true],
    ["a reconcile of a failed one", { request: "reconcile", lastOperation: { ...succeeded, state: "Failed" } }, true],
  ])("is overtaken by %s: %s", (_name, change, expected) => {
    expect(supersedes(view(change), shootRun({ generation: 3 }))).toBe(expected);
  });
  it("is not overtaken by the deletion that it carries out, but by what was mended meanwhile", () => {
    const running = shootRun({ operation: "Delete", generation: 4 });
    expect(supersedes(view({ deleting: true, generation: 4 }), running)).toBe(false);
    expect(supersedes(view({ deleting: true, generation: 5 }), running)).toBe(true);
    const forced = { ...run, forced: true } as const;
    expect(supersedes(view({ deleting: true, generation: 5, run: forced }), { ...running, forced: true })).toBe(false);
  });
});

describe("an operation that waits for an etcd whose data are damaged", () => {
  const damaged = view({ run: { ...run, etcdDamaged: true } });
  it("begins anew with the steps that replace them, once", () => {
    expect(supersedes(damaged, shootRun({ generation: 3, operation: "Reconcile" }))).toBe(true);
    expect(supersedes(damaged, shootRun({ generation: 3, operation: "Reconcile", etcdDamaged: true }))).toBe(false);
  });
  it("goes on where it makes the Shoot: what it waits for is not there yet", () => {
    expect(supersedes(damaged, shootRun({ generation: 3, operation: "Create" }))).toBe(false);
  });
  it("goes on where it is a deletion", () => {
    const deleting = shootRun({ generation: 3, operation: "Delete" });
    expect(supersedes({ ...damaged, deleting: true }, deleting)).toBe(false);
  });
});

describe("a running move", () => {
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  const other = { ...migration, destination: "seed-3" };
  const moving = (operation: "Migrate" | "Restore") => shootRun({ operation, generation: 3, migration });
  const facts = (change: object) => ({ ...run, migration, ...change });
  it.each<[string, "Migrate" | "Restore", Partial<ShootView>, boolean]>([
    ["nothing new", "Migrate", { moving: "Migrate", run: facts({}) }, false],
    ["a deletion", "Migrate", { moving: "Migrate", deleting: true, run: facts({}) }, false],
    ["a flip that was believed dead", "Migrate", { moving: "Migrate", run: facts({ epoch: 2 }) }, true],
    ["its own flip", "Migrate", { moving: "Restore", run: facts({ epoch: 2 }) }, false],
    ["a move that has arrived", "Migrate", { run: { ...run, epoch: 2 } }, true],
    ["another move's Restore", "Migrate", { moving: "Restore", run: facts({ epoch: 2, migration: other }) }, true],
    ["another move's Restore", "Restore", { moving: "Restore", run: facts({ epoch: 2 }) }, true],
    [
      "being given up",
      "Migrate",
      {
        moving: "Restore",
        run: facts({ epoch: 2, migration: { ...migration, destination: "seed-1", returning: true } }),
      },
      true,
    ],
    ["a takeover", "Migrate", { moving: "Migrate", run: facts({ migration: { ...migration, takeover: true } }) }, true],
    ["nothing new", "Restore", { moving: "Restore", run: facts({}) }, false],
    ["a deletion", "Restore", { moving: "Restore", deleting: true, run: facts({}) }, false],
    ["a takeover", "Restore", { moving: "Migrate", run: facts({ migration: { ...migration, takeover: true } }) }, true],
  ])("is overtaken by %s (%s): %s", (_name, operation, change, expected) => {
    expect(supersedes(view(change), moving(operation))).toBe(expected);
  });
});

describe("a takeover under way", () => {
  const migration = { source: "seed-1", destination: "seed-2", takeover: true };
  const running = shootRun({ operation: "Restore", generation: 3, migration });
  it.each([
    ["another takeover, to a third seed", { source: "seed-2", destination: "seed-3", takeover: true }, true],
    ["the same one", migration, false],
  ])("is overtaken by %s: %s", (_name, wanted, expected) => {
    expect(supersedes(view({ moving: "Migrate", run: { ...run, migration: wanted } }), running)).toBe(expected);
  });
});

describe("the operation's type", () => {
  it.each([
    ["Create", "Error", "Create"],
    ["Create", "Succeeded", "Reconcile"],
    ["Reconcile", "Failed", "Reconcile"],
    ["Delete", "Failed", "Reconcile"],
  ] as const)("after %s %s is %s", (type, state, expected) => {
    expect(operationType({ lastOperation: { type, state, lastUpdateTime: "" } })).toBe(expected);
  });
});

describe("the clean-up of seeds that a Shoot has left", () => {
  const leftovers = ["seed-8", "seed-9"];

  it("is one for each of them, and acts in that seed", () => {
    expect(cleanUpsOf(view({ leftovers })).map(({ seedName, migration }) => [seedName, migration])).toEqual([
      ["seed-8", { source: "seed-8", destination: "seed-1", takeover: false }],
      ["seed-9", { source: "seed-9", destination: "seed-1", takeover: false }],
    ]);
  });

  it.each(["Migrate", "Restore"] as const)(
    "does not begin while the Shoot needs a %s, whatever else holds that up",
    (moving) => {
      expect(cleanUpsOf(view({ leftovers, moving }))).toEqual([]);
      expect(cleanUpsOf(view({ leftovers, moving, ignored: true }))).toEqual([]);
    },
  );

  it("does not begin while it is not known who leads", () => {
    const { run: _run, ...unknown } = view({ leftovers });
    expect(cleanUpsOf(unknown)).toEqual([]);
  });
});

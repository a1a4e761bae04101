import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUpWorkflowId, flowWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const quick = { leaseSeconds: 1, dnsTtl: 1, seedDeadline: 2_000 };

describe("a migration", () => {
  it("takes a Shoot from seed to seed, and cleans the old one up", async () => {
    const world = lab.world(quick);
    await migrate(world);
    await restored(world);
    await eventually(() => expect(world.calls).toContain("leaveSeed seed-1"));
    inOrder(world, [
      "checkMigration",
      "deployComponent namespace in seed-2",
      "announceHandover in seed-1",
      "stopWorkload machine-controller-manager in seed-1",
      "migrateExtension Worker in seed-1",
      "migrateExtension Infrastructure in seed-1",
      "persistState in seed-1",
      "flip",
      "beginOperation Restore",
      "restoreExtension Infrastructure in seed-2",
      "stopWorkload kube-apiserver in seed-1",
      "stopWorkload etcd in seed-1",
      "deployComponent kube-apiserver in seed-2",
      "restoreExtension Worker in seed-2",
      "stopWorkloads in seed-1",
      "abandonExtensions in seed-1",
      "leaveSeed seed-1",
    ]);
    inOrder(world, ["flip", "prepareEtcd in seed-2", "stopWorkload kube-apiserver in seed-1"]);
    await lab.client.workflow.getHandle(cleanUpWorkflowId(world.ref, "seed-1")).result();
    await world.gone();
  });

  it("takes ten Shoots at once", async () => {
    const worlds = Array.from({ length: 10 }, () => lab.world(quick));
    await Promise.all(worlds.map((world) => migrate(world)));
    for (const world of worlds) {
      await eventually(() => expect(world.calls).toContain("leaveSeed seed-1"), 120_000);
      expect(world.calls.filter((call) => call === "flip")).toHaveLength(1);
      expect(world.view.lastOperation).toMatchObject({ type: "Restore", state: "Succeeded" });
      expect(world.view.run).toMatchObject({ seedName: "seed-2", epoch: 2 });
    }
    await Promise.all(worlds.map((world) => world.gone()));
  });

  it("lets two leases run out between the flip and the first act of the new seed", async () => {
    const world = lab.world({ ...quick, leaseSeconds: 2 });
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("beginOperation Restore"), 60_000);
    const begin = performance.now();
    await eventually(() => expect(world.calls).toContain("restoreExtension Infrastructure in seed-2"), 60_000);
    expect(performance.now() - begin).toBeGreaterThan(3_900);
    await world.gone();
  });

  it("is not taken for over when Temporal's timer says so, but a monotonic clock does not", async () => {
    const world = lab.world({ ...quick, leaseSeconds: 1 });
    world.hold.add("awaitLeases");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("awaitLeases"), 60_000);
    await sleep(3_000);
    expect(world.calls.join()).not.toMatch(/restoreExtension|stopWorkload (kube|etcd)|restoreEtcdVolume/);
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("restoreExtension Infrastructure in seed-2"), 60_000);
    await world.gone();
  });

  it("is given up before the flip, and the Shoot is brought back where it was", async () => {
    const world = lab.world(quick);
    world.hold.add("persistState in seed-1");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("persistState in seed-1"), 60_000);
    stay(world);
    await lab.shoots.nudge(world.ref);
    await stopAsked(world);
    world.hold.clear();
    await restored(world);
    expect(world.calls).not.toContain("flip");
    expect(world.calls).toContain("restoreExtension Worker in seed-1");
    const stopped = world.calls.filter((call) => call.startsWith("stopWorkload"));
    expect(stopped).toEqual(["stopWorkload machine-controller-manager in seed-1"]);
    expect(world.calls.join()).not.toMatch(/restoreEtcdVolume|restoreKeptSecrets in seed-1/);
    await world.gone();
  });

  it("is seen through before the Shoot is deleted", async () => {
    const world = lab.world(quick);
    world.hold.add("persistState in seed-1");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("persistState in seed-1"), 60_000);
    world.view.deleting = true;
    await lab.shoots.nudge(world.ref);
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("beginOperation Delete"), 60_000);
    inOrder(world, ["flip", "beginOperation Restore", "restoreExtension Worker in seed-2", "beginOperation Delete"]);
    await world.gone();
  });

  it("goes on from the parked step, and only there", async () => {
    const world = lab.world(quick);
    world.fail["migrateExtension ControlPlane in seed-1"] = parked("the provider refuses");
    await migrate(world);
    await eventually(() => expect(world.status?.state).toBe("Failed"), 60_000);
    expect(world.status?.lastErrors).toMatchObject([
      { taskID: "migrateControlPlane", codes: ["ERR_INFRA_UNAUTHORIZED"] },
    ]);
    expect(world.calls).not.toContain("flip");
    world.fail = {};
    expect(await lab.shoots.retry(world.ref)).toEqual(["migrateControlPlane"]);
    await eventually(() => expect(world.calls).toContain("leaveSeed seed-1"), 60_000);
    expect(world.calls.filter((call) => call === "migrateExtension Worker in seed-1")).toHaveLength(1);
    await world.gone();
  });
});

describe("a clean-up", () => {
  it("waits for no operation, also where that is parked or was begun before the Seed was left", async () => {
    const world = lab.world();
    world.view.leftovers = ["seed-2"];
    world.fail["deployComponent etcd"] = parked("the quota is used up");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("leaveSeed seed-2"));
    await eventually(() => expect(world.status?.state).toBe("Failed"));
    world.view.leftovers = ["seed-3"];
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("leaveSeed seed-3"));
    expect(world.status?.state).toBe("Failed");
    await world.gone();
  });

  it("of a Seed that is left does not begin while the Shoot moves", async () => {
    const world = lab.world(quick);
    world.view.leftovers = ["seed-3"];
    world.hold.add("persistState in seed-1");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("persistState in seed-1"), 60_000);
    await lab.shoots.nudge(world.ref);
    await sleep(1_000);
    const cleanUp = lab.client.workflow.getHandle(cleanUpWorkflowId(world.ref, "seed-3"));
    await expect(cleanUp.describe()).rejects.toThrow("not found");
    world.hold.clear();
    await restored(world);
    await world.gone();
  });

  it("waits for its seed's API server in one open activity, adds nothing to the history, and goes on when that answers", async () => {
    const world = lab.world();
    const away = { message: "cannot list Deployment: the API server is unreachable", codes: [], retryable: true };
    const failure = ApplicationFailure.create({ ...away, details: [{ ...away, unavailable: true }] });
    world.view.leftovers = ["seed-2"];
    world.fail["stopWorkloads in seed-2"] = failure;
    world.fail["answer in seed-2"] = failure;
    await lab.shoots.nudge(world.ref);
    const cleanUp = lab.client.workflow.getHandle(cleanUpWorkflowId(world.ref, "seed-2"));
    const open = async () => (await cleanUp.describe()).raw.pendingActivities ?? [];
    await eventually(async () => {
      expect(await open()).toMatchObject([{ activityId: "workloads/answer", lastFailure: { message: away.message } }]);
    }, 30_000);
    const steps = (await lab.shoots.progressOf(cleanUp.workflowId))?.steps;
    expect(steps).toContainEqual(expect.objectContaining({ name: "workloads", state: "retrying", attempt: 1 }));
    const { historyLength } = await cleanUp.describe();
    await sleep(12_000); // a retry by the clock would have come after ten seconds
    expect((await cleanUp.describe()).historyLength).toBe(historyLength);
    const tries = () => world.calls.filter((call) => call === "stopWorkloads in seed-2").length;
    const before = tries();

    world.fail = {};
    await cleanUp.result();
    expect(world.calls).toContain("leaveSeed seed-2");
    expect(tries()).toBe(before + 1);
    await world.gone();
  });

  it("waits for as long as its seed is silent, but for an operator where one is needed", async () => {
    const world = lab.world({ ...quick, retryDuration: 0 });
    world.fail["stopWorkloads in seed-1"] = ApplicationFailure.create({ message: "the API server is away" });
    await migrate(world);
    const cleanUp = cleanUpWorkflowId(world.ref, "seed-1");
    const state = async () => {
      const steps = (await lab.shoots.progressOf(cleanUp))?.steps;
      return steps?.find(({ name }) => name === "workloads")?.state;
    };
    await eventually(async () => expect(await state()).toBe("retrying"), 90_000);
    world.fail["stopWorkloads in seed-1"] = parked("somebody else's pod");
    await eventually(async () => expect(await state()).toBe("parked"), 60_000);
    world.fail = {};
    await eventually(async () => expect(await lab.shoots.retry(world.ref)).toEqual(["workloads"]));
    await lab.client.workflow.getHandle(cleanUp).result();
    expect(world.calls).toContain("leaveSeed seed-1");
    await world.gone();
  });
});

describe("a takeover", () => {
  it("waits for approval while the old seed is silent, says so, and then asks nothing of it", async () => {
    const world = lab.world({ ...quick, seedName: "seed-9", retryDuration: 0 });
    await migrate(world, "seed-9");
    await eventually(
      () =>
        expect(world.status?.lastErrors.map(({ description }) => description).join()).toMatch(
          /worker of Seed seed-9 has not answered for 2 s.*--to seed-2 --force-takeover/,
        ),
      60_000,
    );
    expect(world.status?.state).toBe("Error"); // not Failed: nobody has to ask for another try once it is back
    expect(world.calls).not.toContain("flip");
    approve(world);
    await lab.shoots.nudge(world.ref);
    await restored(world);
    expect(world.calls).toContain("restoreEtcdVolume in seed-2");
    expect(world.calls.filter((call) => call.endsWith("in seed-9"))).toEqual([]);
    // Its clean-up waits for the seed to come back.
    await eventually(async () => {
      const cleanUp = lab.client.workflow.getHandle(cleanUpWorkflowId(world.ref, "seed-9"));
      expect((await cleanUp.describe()).status.name).toBe("RUNNING");
    });
    expect(world.calls).not.toContain("leaveSeed seed-9");
    await lab.client.workflow.getHandle(cleanUpWorkflowId(world.ref, "seed-9")).terminate();
    await world.gone();
  });

  it("replaces a Restore whose old seed has died since the flip, under another epoch", async () => {
    const world = lab.world(quick);
    world.fail["stopWorkload kube-apiserver in seed-1"] = parked("the seed has died");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("stopWorkload kube-apiserver in seed-1"), 60_000);
    world.view.moving = "Migrate";
    approve(world);
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls.filter((call) => call === "flip")).toHaveLength(2), 60_000);
    expect(world.view.run?.epoch).toBe(3);
    await restored(world);
    await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "restore")).result();
    await world.gone();
  });
});

describe("a Shoot whose new seed dies before it has arrived", () => {
  it("is taken over by a third seed, also out of a takeover", async () => {
    const world = lab.world(quick);
    world.fail["deployComponent etcd in seed-2"] = parked("the seed has died");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("deployComponent etcd in seed-2"), 60_000);
    const taken = async (source: string, destination: string) => {
      const migration = { source, destination, takeover: true };
      Object.assign(world.view, { moving: "Migrate", run: { ...world.view.run, migration } });
      await lab.shoots.nudge(world.ref);
    };
    world.fail["deployComponent etcd in seed-3"] = parked("the seed has died");
    await taken("seed-2", "seed-3");
    await eventually(() => expect(world.calls).toContain("deployComponent etcd in seed-3"), 60_000);
    world.fail = {};
    await taken("seed-3", "seed-1");
    await restored(world);
    expect(world.calls.filter((call) => call === "flip")).toHaveLength(3);
    expect(world.calls).toContain("restoreEtcdVolume in seed-1");
    expect(world.view.run).toMatchObject({ seedName: "seed-1", epoch: 4 });
    await world.gone();
  });
});

/** As the garden would show a Shoot whose seedName was changed. */
// The last one: its seed stays dead.
describe("a seed that dies while something there is waited for", () => {
  it("is said to be silent long before the wait is over", async () => {
    const world = lab.world(quick);
    world.fail["waitFor takeSnapshot in seed-1"] = ApplicationFailure.create({ message: "not yet" });
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("waitFor takeSnapshot in seed-1"), 60_000);
    await lab.silence("seed-1");
    await eventually(async () => {
      const steps = (await lab.shoots.progress(world.ref))?.steps;
      const error = steps?.find(({ name }) => name === "firstSnapshot")?.error;
      expect(error?.message).toMatch(/the worker of Seed seed-1 has not answered for 2 s.*--force-takeover/);
    }, 60_000);
    approve(world);
    await lab.shoots.nudge(world.ref);
    await restored(world);
    const cleanUp = cleanUpWorkflowId(world.ref, "seed-1");
    await eventually(async () => {
      const error = (await lab.shoots.progressOf(cleanUp))?.steps.find(({ name }) => name === "fence")?.error;
      expect(error?.message).toMatch(/seed-1 has not answered for 2 s.* is cleaned up when it is back$/);
    }, 60_000);
    await world.gone();
  });
});

async function migrate(world: World, source = "seed-1"): Promise<void> {
  const migration = { source, destination: "seed-2", takeover: false };
  Object.assign(world.view, { moving: "Migrate", run: { ...world.view.run, migration } });
  await lab.shoots.nudge(world.ref);
}

/** Returns once the Shoot's workflow has asked the migration to stop: what is held until then cannot outrun it. */
async function stopAsked({ ref }: World): Promise<void> {
  const migration = lab.client.workflow.getHandle(flowWorkflowId(ref, "migrate"));
  await eventually(async () => {
    const { events } = await migration.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes)).toBe(true);
  }, 60_000);
}

async function restored(world: World): Promise<void> {
  await eventually(
    () => expect(world.view.lastOperation).toMatchObject({ type: "Restore", state: "Succeeded" }),
    90_000,
  );
}

function stay(world: World): void {
  const migration = { source: "seed-1", destination: "seed-1", takeover: false, returning: true };
  Object.assign(world.view, { moving: "Restore", run: { ...world.view.run, migration } });
}

function approve(world: World): void {
  const migration = { source: world.view.run?.migration?.source, destination: "seed-2", takeover: true };
  Object.assign(world.view, { run: { ...world.view.run, migration } });
}

function parked(message: string): ApplicationFailure {
  const detail = { message, codes: ["ERR_INFRA_UNAUTHORIZED"], retryable: false };
  return ApplicationFailure.nonRetryable(message, "StepError", detail);
}

/** The first of each call comes after the first of the one before. */
function inOrder(world: World, calls: readonly string[]): void {
  const found = calls.map((call) => [call, world.calls.indexOf(call)] as const);
  for (const [call, index] of found) expect(index, call).toBeGreaterThan(-1);
  expect(found.map(([call]) => call)).toEqual(
    [...found].sort(([, one], [, other]) => one - other).map(([call]) => call),
  );
}

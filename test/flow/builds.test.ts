import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildOf, createBuilds } from "../../src/client/builds.ts";
import { createRuns } from "../../src/client/runs.ts";
import { cleanUpWorkflowId, flowWorkflowId, shootWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";
import type { DeployedBuild, GardenWorker } from "../support/garden-worker.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab({ build: { id: "idle" } })));
afterAll(() => lab.stop());

const deployed: GardenWorker[] = [];
afterEach(async () => void (await Promise.all(deployed.splice(0).map((worker) => worker.stop()))));

async function deploy(id: string, build: DeployedBuild = {}): Promise<GardenWorker> {
  const worker = await lab.deploy({ id, ...build });
  deployed.push(worker);
  return worker;
}

const file = (name: string) => join(import.meta.dirname, `../support/builds/${name}.ts`);
/** Its reconcile and its clean-up have got a row; that of the clean-up says since when. */
const second = { path: file("second") };

describe("a new build of the garden's worker", () => {
  it("leaves a flow that is in its middle to the old one, and begins the next with its own table", async () => {
    await deploy("old");
    const world = lab.world();
    world.hold.add("deployComponent etcd");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("deployComponent etcd"));
    await deploy("new", second);
    const other = await created(lab.world());
    expect(other.calls).toContain("raiseFence");
    expect(await lab.shoots.progress(other.ref)).toMatchObject({ build: "new", percent: 100 });

    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"), 60_000);
    expect(world.calls).not.toContain("raiseFence");
    expect(await lab.shoots.progress(world.ref)).toMatchObject({ build: "old", percent: 100 });
    await Promise.all([world.gone(), other.gone()]);
  });

  it("gets the Shoots' workflows by itself: those that wait, and those whose operation stays with the old one", async () => {
    await deploy("left");
    const [idle, busy] = [await created(lab.world()), lab.world()];
    busy.hold.add("deployComponent etcd");
    await lab.shoots.nudge(busy.ref);
    await eventually(() => expect(busy.calls).toContain("deployComponent etcd"));
    await deploy("entered", second);
    for (const { ref } of [idle, busy])
      await eventually(async () => expect(await build(shootWorkflowId(ref))).toBe("entered"));
    expect(await build(flowWorkflowId(busy.ref, "reconcile"))).toBe("left");

    busy.hold.clear();
    await eventually(() => expect(busy.status?.state).toBe("Succeeded"), 60_000);
    busy.view.generation = 2;
    await lab.shoots.nudge(busy.ref);
    await eventually(() => expect(busy.calls).toContain("raiseFence"), 60_000);
    await Promise.all([idle.gone(), busy.gone()]);
  });

  it("takes over, after some days, a clean-up that waits, and skips the row that it did not begin with", async () => {
    await deploy("waiting");
    const world = await waitingCleanUp();
    const cleanUp = cleanUpWorkflowId(world.ref, "seed-1");
    await deploy("days later", { ...second, drainPeriod: 0 });
    await eventually(async () => expect(await build(cleanUp)).toBe("days later"));
    world.hold.clear();
    expect(await lab.client.workflow.getHandle(cleanUp).result()).toBe("succeeded");
    expect(world.calls).toContain("abandonExtensions in seed-1");
    expect(world.calls).not.toContain("removeState in seed-1");
    expect(await lab.shoots.progressOf(cleanUp)).toMatchObject({
      build: "days later",
      steps: expect.arrayContaining([expect.objectContaining({ name: "state", state: "skipped" })]),
    });
    expect(await failedTasks(cleanUp)).toEqual([]);
    await world.gone();

    const later = await waitingCleanUp();
    later.hold.clear();
    await eventually(() => expect(later.calls).toContain("leaveSeed seed-1"), 60_000);
    expect(later.calls).toContain("removeState in seed-1");
    await later.gone();
  });

  it("leaves alone what does not go together with its code, as a row does that forgets to say since when", async () => {
    await deploy("before");
    const world = await waitingCleanUp();
    const cleanUp = cleanUpWorkflowId(world.ref, "seed-1");
    await deploy("forgetful", { path: file("without-since"), drainPeriod: 0 });
    await eventually(async () => expect(await build(shootWorkflowId(world.ref))).toBe("forgetful"));
    expect(await build(cleanUp)).toBe("before");

    // What would become of it, and that it can be taken back.
    const runs = createRuns(lab.client);
    const { runId } = await lab.client.workflow.getHandle(cleanUp).describe();
    const run = { workflowId: cleanUp, runId, isShoot: false, build: "before", startedAt: new Date() };
    await runs.pin(run, "forgetful");
    await lab.client.workflow.getHandle(cleanUp).signal("retryAll");
    await eventually(async () => expect((await failedTasks(cleanUp)).join()).toContain("Nondeterminism error"));
    await runs.pin(run, undefined);
    world.hold.clear();
    expect(await lab.client.workflow.getHandle(cleanUp).result()).toBe("succeeded");
    await world.gone();
  });

  it("gets everything that goes together with its code once the old one has no workers any more", async () => {
    const old = await deploy("ended");
    const world = await waitingCleanUp();
    const busy = lab.world();
    busy.hold.add("deployComponent etcd");
    await lab.shoots.nudge(busy.ref);
    await eventually(() => expect(busy.calls).toContain("deployComponent etcd"));
    await old.stop();
    await deploy("only", { silence: 3_000 });
    busy.hold.clear();
    await eventually(() => expect(busy.status?.state).toBe("Succeeded"), 60_000);
    world.hold.clear();
    const cleanUp = cleanUpWorkflowId(world.ref, "seed-1");
    expect(await lab.client.workflow.getHandle(cleanUp).result()).toBe("succeeded");
    expect(await lab.shoots.progressOf(cleanUp)).toMatchObject({ build: "only" });
    await Promise.all([world.gone(), busy.gone()]);
  });
});

describe("rolling back", () => {
  it("is making the old build current: the new one leaves it at that, and its Shoots come back", async () => {
    const old = await deploy("good");
    const current = await deploy("bad", second);
    const world = await created(lab.world());
    expect(world.calls).toContain("raiseFence");
    const builds = createBuilds(lab.client);
    await eventually(async () => {
      const seen = await builds.read();
      return seen !== undefined && (await builds.makeCurrent(old.build, seen, "operator"));
    });
    await eventually(async () => expect(await build(shootWorkflowId(world.ref))).toBe("good"));
    const other = await created(lab.world());
    expect(other.calls).not.toContain("raiseFence");

    // A restart of its workers is no new roll-out.
    await current.stop();
    await deploy("bad", second);
    expect((await builds.read())?.current).toBe("good");
    await Promise.all([world.gone(), other.gone()]);
  });
});

async function created(world: World): Promise<World> {
  await lab.shoots.nudge(world.ref);
  await eventually(() => expect(world.status?.state).toBe("Succeeded"), 60_000);
  return world;
}

/** A Shoot that has moved, and whose old seed does not answer. */
async function waitingCleanUp(): Promise<World> {
  const world = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
  world.hold.add("stopWorkloads in seed-1");
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  Object.assign(world.view, { moving: "Migrate", run: { ...world.view.run, migration } });
  await lab.shoots.nudge(world.ref);
  await eventually(() => expect(world.calls).toContain("stopWorkloads in seed-1"), 90_000);
  return world;
}

async function build(workflowId: string): Promise<string | undefined> {
  return buildOf(await lab.client.workflow.getHandle(workflowId).describe());
}

async function failedTasks(workflowId: string): Promise<readonly string[]> {
  const { events } = await lab.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? []);
}

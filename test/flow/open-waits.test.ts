import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure, defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flowWorkflowId, searchAttributes, shootWorkflowId } from "../../src/workflows/contract.ts";
import { findBinary } from "../support/binary.ts";
import { eventually } from "../support/eventually.ts";
import { commandsBelow } from "../support/pages.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const flowOf = ({ ref }: World) => lab.client.workflow.getHandle(flowWorkflowId(ref, "reconcile"));
const open = async (world: World) => (await flowOf(world).describe()).raw.pendingActivities ?? [];
const openIds = async (world: World) => (await open(world)).map(({ activityId }) => activityId);
const stepOf = async ({ ref }: World, name: string) =>
  (await lab.shoots.progress(ref))?.steps.find((step) => step.name === name);

/** The summaries of a workflow's timers, in their order; `undefined` for a timer without a name. */
async function timersOf(workflowId: string): Promise<(string | undefined)[]> {
  const { events } = await lab.client.workflow.getHandle(workflowId).fetchHistory();
  const timers = (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
  return timers.map(({ userMetadata }) =>
    userMetadata?.summary ? defaultPayloadConverter.fromPayload<string>(userMetadata.summary) : undefined,
  );
}

async function everyTimerHasAName({ ref }: World): Promise<void> {
  for (const workflowId of [shootWorkflowId(ref), flowWorkflowId(ref, "reconcile")])
    expect(await timersOf(workflowId)).not.toContain(undefined);
}

/** Runs lines of a page as an operator would, with the pinned `temporal`. */
async function byHand(lines: string, world: World): Promise<string> {
  const { PATH = "", HOME = "" } = process.env;
  const commands = lines.replaceAll(" ID", ` ${flowOf(world).workflowId}`);
  const env = { PATH: `${dirname(await findBinary("temporal"))}:${PATH}`, HOME, TEMPORAL_ADDRESS: lab.address };
  const { stdout } = await promisify(execFile)("sh", ["-ec", commands], { env });
  return stdout;
}

describe("a step whose seed's worker is silent", () => {
  /** A Shoot of a seed without a worker, once that is all that its flow waits for. */
  async function silentWorld(seedName: string): Promise<World> {
    const world = lab.world({ seedName, seedDeadline: 1_000 });
    await lab.shoots.nudge(world.ref);
    await eventually(async () => expect(await openIds(world)).toEqual(["namespace/answer"]), 30_000);
    return world;
  }

  it("waits for an answer in one open activity, adds nothing to the history, and goes on when the worker answers", async () => {
    const world = await silentWorld("seed-7");
    expect(world.status).toMatchObject({ state: "Error", lastErrors: [{ taskID: "namespace" }] });
    expect(world.status?.lastErrors[0]?.description).toContain("the worker of Seed seed-7 has not answered for 1 s");
    expect(await stepOf(world, "namespace")).toMatchObject({ state: "retrying", attempt: 1 });
    await sleep(3_000); // until extensions, too, were told in vain
    const { historyLength } = await flowOf(world).describe();
    await sleep(8_000); // retries by the clock would have come after five seconds, and after ten more
    expect((await flowOf(world).describe()).historyLength).toBe(historyLength);

    await lab.revive("seed-7");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"), 30_000);
    expect(world.calls.filter((call) => call === "deployComponent namespace")).toHaveLength(1);
    await everyTimerHasAName(world);
    await world.gone();
  });

  it("is tried at once when that is asked for, and then waits again", async () => {
    const world = await silentWorld("seed-8");
    expect(await lab.shoots.retry(world.ref)).toEqual(["namespace"]);
    await eventually(async () => expect(await stepOf(world, "namespace")).toMatchObject({ attempt: 2 }));
    await eventually(async () => expect(await openIds(world)).toEqual(["namespace/answer"]), 30_000);
    await world.gone();
  });

  it("ends with its operation", async () => {
    const world = await silentWorld("seed-9");
    world.view.generation = 2;
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls.filter((call) => call === "beginOperation Create")).toHaveLength(2));
    await world.gone();
  });
});

describe("a parked step", () => {
  const quota = ApplicationFailure.nonRetryable("quota", "StepError", {
    message: `quota is used up${" — 名前".repeat(200)}`,
    codes: ["ERR_INFRA_QUOTA_EXCEEDED"],
    retryable: false,
  });

  /** A Shoot whose etcd is parked while its infrastructure is still under way. */
  async function parkedWorld(): Promise<World> {
    const world = lab.world();
    world.fail["deployComponent etcd"] = quota;
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(async () => expect(await openIds(world)).toContain("etcd/parked"));
    return world;
  }

  it("is an open activity that shows its reason, and in the list of workflows a phase with its code", async () => {
    const world = await parkedWorld();
    await eventually(async () => {
      const activity = (await open(world)).find(({ activityId }) => activityId === "etcd/parked");
      expect(activity?.lastFailure?.message).toContain("quota is used up");
      expect(activity?.lastFailure?.applicationFailureInfo?.type).toBe("Parked");
    });
    await eventually(async () => {
      const { typedSearchAttributes: shown } = await flowOf(world).describe();
      expect([shown.get(searchAttributes.phase), shown.get(searchAttributes.errorCode)]).toEqual([
        "Parked",
        "ERR_INFRA_QUOTA_EXCEEDED",
      ]);
    });
    expect(world.status?.state).toBe("Error"); // other steps still run
    world.hold.clear();
    await world.gone();
  });

  it("is retried when that activity is completed by hand, as the page on the Temporal UI says", async () => {
    const world = await parkedWorld();
    delete world.fail["deployComponent etcd"];
    world.hold.clear();
    await byHand(commandsBelow("docs/temporal-ui.md", "Retry a parked step from here"), world);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.calls.filter((call) => call === "deployComponent etcd")).toHaveLength(2);
    await everyTimerHasAName(world);
    await world.gone();
  });

  it("leaves no activity open when a retry is asked for, and can be parked again", async () => {
    const world = await parkedWorld();
    for (const attempt of [2, 3]) {
      await lab.shoots.retry(world.ref, "etcd");
      await eventually(async () => expect(await stepOf(world, "etcd")).toMatchObject({ state: "parked" }));
      await eventually(() =>
        expect(world.calls.filter((call) => call === "deployComponent etcd")).toHaveLength(attempt),
      );
    }
    delete world.fail["deployComponent etcd"];
    world.hold.clear();
    await lab.shoots.retry(world.ref, "etcd");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });
});

describe("a wait", () => {
  const [listing = "", completing = "", failing = ""] = commandsBelow("docs/runbooks/wait-does-not-end.md", "Fix")
    .replaceAll(" WAIT", " infrastructure/wait")
    .split("\n");

  async function waitingWorld(): Promise<World> {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(async () => expect(await openIds(world)).toEqual(["infrastructure/wait"]), 30_000);
    return world;
  }

  it("is listed and ended by hand, as its runbook says", async () => {
    const world = await waitingWorld();
    expect(await byHand(listing, world)).toContain("infrastructure/wait");
    await byHand(completing, world);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    world.hold.clear();
    await world.gone();
  });

  it("is failed by hand, which parks its step with the reason, as its runbook says", async () => {
    const world = await waitingWorld();
    await byHand(failing.replace("TEXT", "'the disk is gone'"), world);
    await eventually(async () => {
      const error = { message: "the disk is gone", codes: [] };
      expect(await stepOf(world, "infrastructure")).toMatchObject({ state: "parked", error });
    });
    world.hold.clear();
    await world.gone();
  });
});

describe("an operation that is stopped", () => {
  it("is shown as stopped, also when a step has failed on the way", async () => {
    const world = lab.world();
    world.hold.add("deployComponent etcd");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("deployComponent etcd"));
    const { runId } = await flowOf(world).describe();
    world.view.generation = 2;
    await lab.shoots.nudge(world.ref);
    const first = lab.client.workflow.getHandle(flowOf(world).workflowId, runId);
    await eventually(async () => {
      const { events } = await first.fetchHistory();
      expect(events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes)).toBe(true);
    });
    world.fail["deployComponent etcd"] = ApplicationFailure.nonRetryable("quota", "StepError"); // a write is finished
    await eventually(async () => expect((await first.describe()).status.name).toBe("COMPLETED"));
    expect((await first.describe()).typedSearchAttributes.get(searchAttributes.phase)).toBe("Stopped");
    expect(world.calls).toContainEqual(expect.stringMatching(/^writeStatus (Error|Failed)$/));
    delete world.fail["deployComponent etcd"];
    world.hold.clear();
    await world.gone();
  });
});

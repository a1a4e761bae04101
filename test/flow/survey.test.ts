import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flowWorkflowId } from "../../src/workflows/contract.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const steps = [...reconcile.steps.keys()];

/** A Shoot that has succeeded long ago, with what its survey finds settled. */
const overdue = (settled: readonly string[]): World => {
  const world = lab.world();
  const lastUpdateTime = new Date(Date.now() - 2 * 3_600_000).toISOString();
  world.view.observedGeneration = 1;
  world.view.lastOperation = { type: "Reconcile", state: "Succeeded", lastUpdateTime };
  world.settled = settled;
  return world;
};

const statesOf = async (world: World) => {
  await lab.shoots.nudge(world.ref);
  await eventually(() => expect(world.status?.state).toBe("Succeeded"));
  const { steps: shown = [], percent } = (await lab.shoots.progress(world.ref)) ?? {};
  expect(percent).toBe(100);
  return Object.fromEntries(shown.map(({ name, state }) => [name, state]));
};

const actsIn = (world: World) =>
  world.calls.filter((call) => /^(deploy|apply|publish|sync|announce|initialize|remove|encrypt|waitFor)/.test(call));

describe("a periodic Reconcile", () => {
  it("does nothing in the seed beside the survey where everything is settled, in a short history", async () => {
    const world = overdue(steps);
    const states = await statesOf(world);
    expect(states).toMatchObject({
      shareState: "done",
      survey: "done",
      namespace: "settled",
      nodesReady: "settled",
    });
    expect(actsIn(world)).toEqual([]);
    const { events } = await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "reconcile")).fetchHistory();
    expect(events?.length).toBeLessThan(45);
    await world.gone();
  });

  it("does a step that has something to do, and everything behind it", async () => {
    const world = overdue(steps.filter((step) => step !== "network"));
    const states = await statesOf(world);
    const ran = Object.keys(states).filter((step) => states[step] === "done");
    expect(ran).toEqual([
      ...[
        "requiredExtensions",
        "shareState",
        "survey",
        "network",
        "kubeProxy",
        "coreDns",
        "worker",
        "nodesReady",
        "routes",
        "staleConfigs",
        "staleExtensions",
      ],
    ]);
    await world.gone();
  });

  it("does every step where the survey fails", async () => {
    const world = overdue(steps);
    world.fail["survey"] = ApplicationFailure.nonRetryable("the seed does not know");
    expect(Object.values(await statesOf(world))).not.toContain("settled");
    expect(actsIn(world)).toContain("deployComponent kube-apiserver");
    await world.gone();
  });
});

it("a Reconcile that an operator asked for does every step, without a survey", async () => {
  const world = overdue(steps);
  world.view.request = "reconcile";
  expect(await statesOf(world)).toMatchObject({ survey: "skipped", namespace: "done", worker: "done" });
  expect(world.calls).not.toContain("survey");
  await world.gone();
});

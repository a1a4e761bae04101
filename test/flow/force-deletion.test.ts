import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, expect, it } from "vitest";
import { flowWorkflowId, shootWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const unauthorized = ApplicationFailure.nonRetryable("no", "StepError", {
  message: "the provider refuses the credentials",
  codes: ["ERR_INFRA_UNAUTHORIZED"],
  retryable: false,
});

/** A Shoot whose deletion waits for the operator, because its machines cannot be removed. */
async function parkedDeletion(): Promise<World> {
  const world = lab.world();
  world.fail["removeExtension Worker"] = unauthorized;
  world.view.deleting = true;
  await lab.shoots.nudge(world.ref);
  await eventually(() =>
    expect(world.status).toMatchObject({ state: "Failed", lastErrors: [{ taskID: "removeWorker" }] }),
  );
  return world;
}

async function force(world: World): Promise<void> {
  Object.assign(world.view.run ?? {}, { forced: true });
  await lab.shoots.nudge(world.ref);
}

it("force ends the deletion that is parked, and takes the Shoot away without what that waits for", async () => {
  const world = await parkedDeletion();
  delete world.fail["removeExtension Worker"]; // its extension gives up what it cannot remove
  world.fail["cleanKubernetesResources"] = unauthorized;
  const before = world.calls.length;
  await force(world);
  await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).result();
  expect(await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "delete")).result()).toBe("stopped");
  expect(await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "force-delete")).result()).toBe("succeeded");
  const calls = world.calls.slice(before);
  expect(calls.filter((call) => /^(clean|deploy|destroy)/.test(call))).toEqual([]);
  expect(calls.indexOf("syncCluster")).toBeLessThan(calls.indexOf("removeExtension Worker"));
  expect(calls.indexOf("removeExtension Infrastructure")).toBeLessThan(calls.indexOf("removeCluster"));
  expect(calls.at(-1)).toBe("releaseShoot");
});

it("force does not take away what an extension has not let go of", async () => {
  const world = await parkedDeletion();
  await force(world);
  const state = async () => {
    const progress = await lab.shoots.progressOf(flowWorkflowId(world.ref, "force-delete"));
    return progress?.steps.find(({ name }) => name === "removeWorker")?.state;
  };
  await eventually(async () => expect(await state()).toBe("parked"));
  await eventually(() => expect(world.calls).toContain("removeExtension Infrastructure")); // it waits for no other kind
  expect(world.calls).not.toContain("removeCluster");
  expect(world.calls).not.toContain("releaseShoot");
  await world.gone();
});

it("a deletion that its owner does not force waits for the operator", async () => {
  const world = await parkedDeletion();
  await lab.shoots.nudge(world.ref);
  expect(await lab.shoots.progressOf(flowWorkflowId(world.ref, "force-delete"))).toBeUndefined();
  expect((await lab.shoots.progress(world.ref))?.title).toBe("Delete Shoot");
  await world.gone();
});

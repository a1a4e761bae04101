import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareReset } from "../../src/client/flow-reset.ts";
import { createReplayer } from "../../src/worker/replay.ts";
import { flowWorkflowId, shootWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const apiServer = "deployComponent kube-apiserver";

describe("setting an operation back to a step", () => {
  it("does that step and what comes after it again, and the Shoot's workflow hears how it ends", async () => {
    const world = await parkedAt(apiServer);
    const reset = await prepareReset(lab.client, flowWorkflowId(world.ref, "reconcile"), "etcd");
    expect(reset.again).toContain("etcd");
    expect(reset.again).toContain("kubeApiServer");
    expect(reset.again).not.toContain("namespace");
    world.fail = {};
    const before = world.calls.length;
    await reset.carryOut("the volume was replaced");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"), 60_000);
    // Extensions skip a failed Shoot, and what was parked had made it one.
    expect(world.calls.slice(before)).toContain("syncCluster");
    expect(count(world, "deployComponent etcd")).toBe(2);
    expect(count(world, "deployComponent namespace")).toBe(1);
    await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "reconcile")).result();
    expect(await lab.shoots.progress(world.ref)).toMatchObject({ percent: 100 });
    const history = await lab.shoots.history(reset.workflowId);
    const { replay } = await createReplayer();
    expect(history && (await replay(history))).toEqual({ type: "reconcile", events: history?.events.length });
    await world.gone(); // the entity has taken note: it ends with its Shoot
  });

  it("is heard as well by a Shoot's workflow that was begun anew meanwhile", async () => {
    const world = lab.world();
    world.hold.add(apiServer);
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain(apiServer));
    await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).terminate("a test");
    await lab.shoots.nudge(world.ref);
    const reset = await prepareReset(lab.client, flowWorkflowId(world.ref, "reconcile"), "etcd");
    world.hold.clear();
    await reset.carryOut("the volume was replaced");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"), 60_000);
    await world.gone();
  });

  it("leaves a migration's earlier steps undone, and goes on to the flip", async () => {
    const world = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
    world.fail["persistState in seed-1"] = refusal;
    await migrate(world);
    await eventually(() => expect(world.status?.state).toBe("Failed"), 60_000);
    const reset = await prepareReset(lab.client, flowWorkflowId(world.ref, "migrate"), "migrateInfrastructure");
    expect(reset.again).not.toContain("handover");
    world.fail = {};
    await reset.carryOut("the provider's credentials were wrong");
    await eventually(() => expect(world.calls).toContain("beginOperation Restore"), 60_000);
    expect(count(world, "migrateExtension Infrastructure in seed-1")).toBe(2);
    expect(count(world, "migrateExtension Worker in seed-1")).toBe(1);
    await world.gone();
  });

  it("is refused across the flip, while it is under way and when the migration has ended", async () => {
    const world = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
    world.hold.add("flip");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("flip"), 60_000);
    await expect(prepared(world, "migrate", "handover")).rejects.toThrow(
      "step handover lies before flip, which has begun: from there on the new Seed leads, and there is only forward",
    );
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("beginOperation Restore"), 60_000);
    await expect(prepared(world, "migrate", "handover")).rejects.toThrow("a migration ends with its flip");
    await world.gone();
  });

  it("is refused where the flip began after it was prepared", async () => {
    const world = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
    world.hold.add("persistState in seed-1").add("flip");
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("persistState in seed-1"), 60_000);
    const reset = await prepared(world, "migrate", "handover");
    world.hold.delete("persistState in seed-1");
    await eventually(() => expect(world.calls).toContain("flip"), 60_000);
    await expect(reset.carryOut("somebody confirmed it late")).rejects.toThrow("step handover lies before flip");
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("beginOperation Restore"), 60_000);
    await expect(reset.carryOut("somebody confirmed it later")).rejects.toThrow("a migration ends with its flip");
    await world.gone();
  });

  it("is refused before the new etcd's start, once that has begun", async () => {
    const world = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
    world.fail["deployComponent kube-apiserver in seed-2"] = refusal;
    await migrate(world);
    await eventually(() => expect(world.calls).toContain("deployComponent kube-apiserver in seed-2"), 60_000);
    await expect(prepared(world, "restore", "etcdVolume")).rejects.toThrow("no older snapshot may replace it");
    world.fail = {};
    await world.gone();
  });

  it("is refused where a parent or a child workflow would be orphaned", async () => {
    const world = await parkedAt(apiServer);
    await expect(prepareReset(lab.client, shootWorkflowId(world.ref), "etcd")).rejects.toThrow(
      "a reset would orphan the one that is running",
    );
    await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).terminate("a test");
    await expect(prepared(world, "reconcile", "etcd")).rejects.toThrow("the end of the operation would be lost");
    await lab.shoots.nudge(world.ref);
    await world.gone();
  });

  it("is refused for a step that has not begun, and for a workflow that is not there", async () => {
    const world = await parkedAt(apiServer);
    await expect(prepared(world, "reconcile", "worker")).rejects.toThrow(
      /step worker has not begun in this run: choose one of .*namespace/,
    );
    await expect(prepared(world, "delete", "cluster")).rejects.toThrow("there is no workflow shoot/garden-dev/");
    expect(await lab.shoots.history(flowWorkflowId(world.ref, "delete"))).toBeUndefined();
    world.fail = {};
    await lab.shoots.retry(world.ref);
    await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "reconcile")).result();
    await expect(prepared(world, "reconcile", "etcd")).rejects.toThrow("has ended (COMPLETED): no workflow waits");
    await world.gone();
  });
});

const refusal = ApplicationFailure.nonRetryable("no", "StepError", {
  message: "the provider refuses",
  codes: ["ERR_INFRA_UNAUTHORIZED"],
  retryable: false,
});

async function parkedAt(call: string): Promise<World> {
  const world = lab.world();
  world.fail[call] = refusal;
  await lab.shoots.nudge(world.ref);
  await eventually(() => expect(world.status?.state).toBe("Failed"));
  return world;
}

async function migrate(world: World): Promise<void> {
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  world.view.moving = "Migrate";
  world.view.generation = 2;
  if (world.view.run) world.view.run = { ...world.view.run, migration };
  await lab.shoots.nudge(world.ref);
}

function prepared({ ref }: World, kind: "reconcile" | "delete" | "migrate" | "restore", step: string) {
  return prepareReset(lab.client, flowWorkflowId(ref, kind), step);
}

function count({ calls }: World, call: string): number {
  return calls.filter((one) => one === call).length;
}

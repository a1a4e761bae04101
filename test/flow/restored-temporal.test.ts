import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUpWorkflowId, flowWorkflowId, shootWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab({ keepsFile: true })));
afterAll(() => lab.stop());

describe("after Temporal was restored from a backup", () => {
  it("a Migrate of an epoch that is over is stopped, and lost operations begin again", async () => {
    const moved = lab.world({ leaseSeconds: 1, dnsTtl: 1 });
    const failure = { message: "the provider refuses", codes: ["ERR_INFRA_UNAUTHORIZED"], retryable: false };
    moved.fail["persistState in seed-1"] = ApplicationFailure.nonRetryable(failure.message, "StepError", failure);
    const migration = { source: "seed-1", destination: "seed-2", takeover: false };
    Object.assign(moved.view, { moving: "Migrate", run: { ...moved.view.run, migration } });
    await lab.shoots.nudge(moved.ref);
    await eventually(() => expect(moved.status?.state).toBe("Failed"), 60_000);
    const backup = await lab.backUp();

    moved.fail = {};
    await lab.shoots.retry(moved.ref);
    await eventually(() => expect(moved.calls).toContain("leaveSeed seed-1"), 90_000);
    expect(moved.view).toMatchObject({ moving: undefined, run: { seedName: "seed-2", epoch: 2 } });
    await lab.client.workflow.getHandle(cleanUpWorkflowId(moved.ref, "seed-1")).result();
    const created = lab.world();
    created.fail["deployComponent etcd"] = ApplicationFailure.nonRetryable(failure.message, "StepError", failure);
    await lab.shoots.nudge(created.ref);
    await eventually(() => expect(created.status?.state).toBe("Failed"), 60_000);

    await backup.restore();
    created.fail = {};
    created.view.request = "reconcile"; // it has failed, and waits for that
    const calls = moved.calls.length;
    expect(await statusOf(flowWorkflowId(moved.ref, "migrate"))).toBe("RUNNING");
    expect(await lab.shoots.withoutWorkflow([moved.ref, created.ref])).toEqual([created.ref]);
    await lab.shoots.nudge(moved.ref); // as the manager does for all Shoots when it starts
    await lab.shoots.nudge(created.ref);
    await eventually(async () => {
      expect(await statusOf(flowWorkflowId(moved.ref, "migrate"))).not.toBe("RUNNING");
    }, 60_000);
    Object.assign(moved.view, { generation: 2 });
    await lab.shoots.nudge(moved.ref);
    await eventually(() => expect(since(moved, calls)).toContain("beginOperation Reconcile"), 60_000);
    expect(since(moved, calls).join()).not.toMatch(/flip|migrateExtension|persistState|stopWorkload/);
    await eventually(() => expect(created.view.lastOperation).toMatchObject({ state: "Succeeded" }), 60_000);
    await Promise.all([moved.gone(), created.gone()]);
    expect(await statusOf(shootWorkflowId(moved.ref))).toBe("COMPLETED");
  });
});

const since = (world: World, calls: number): readonly string[] => world.calls.slice(calls);

const statusOf = async (workflowId: string): Promise<string> =>
  (await lab.client.workflow.getHandle(workflowId).describe()).status.name;

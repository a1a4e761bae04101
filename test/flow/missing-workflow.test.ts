import { afterAll, beforeAll, expect, it } from "vitest";
import { createShootClient } from "../../src/client/shoots.ts";
import { createShootController } from "../../src/controllers/shoot.ts";
import { createLogger } from "../../src/log.ts";
import { shootWorkflowId } from "../../src/workflows/contract.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { startTemporal, type TemporalServer } from "../support/temporal.ts";

let cluster: ControlPlane;
let temporal: TemporalServer;
beforeAll(async () => {
  [cluster, temporal] = await Promise.all([startControlPlane(), startTemporal()]);
  await applyCrds(cluster.client);
  await applyGarden(cluster.client);
});
afterAll(() => Promise.all([temporal.stop(), cluster.stop()]));

it("a Shoot whose workflow was lost gets a new one soon, and those that have one are left alone", async () => {
  const [lost, kept] = await Promise.all([createShoot(cluster.client, "lost"), createShoot(cluster.client, "kept")]);
  const nudged: string[] = [];
  const client = createShootClient(temporal.client);
  const shoots = createShootController({
    gardenClient: cluster.client,
    shoots: {
      ...client,
      nudge: async (ref) => {
        nudged.push(ref.name);
        await client.nudge(ref);
      },
    },
    log: createLogger({ name: "test", level: "silent" }),
    missingPeriod: 250,
  });
  const runOf = async (shoot: typeof lost) =>
    (await temporal.client.workflow.getHandle(shootWorkflowId(shoot)).describe()) as {
      runId: string;
      status: { name: string };
    };
  shoots.start();
  try {
    const [before] = await eventually(() => Promise.all([runOf(lost), runOf(kept)]));
    await eventually(async () => expect(await client.withoutWorkflow([lost, kept])).toEqual([]));
    nudged.length = 0;
    await temporal.client.workflow.getHandle(shootWorkflowId(lost)).terminate("by hand");
    await eventually(async () => {
      const after = await runOf(lost);
      expect(after.status.name).toBe("RUNNING");
      expect(after.runId).not.toBe(before?.runId);
    });
    expect(nudged).not.toContain("kept");
  } finally {
    await shoots.stop();
  }
});

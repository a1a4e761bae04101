import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Worker } from "@temporalio/worker";
import type { GardenActivities } from "../../src/activities/index.ts";
import { park } from "../../src/activities/shoot/park.ts";
import { waitId } from "../../src/api/activity-ids.ts";
import type { FlowProgress } from "../../src/api/shoot/run.ts";
import { gardenQueue, progressQuery, retryUpdate } from "../../src/workflows/contract.ts";
import { startEngineChild } from "./engine-child.ts";
import type { runEngineTable } from "./engine-workflow.ts";
import type { Engine, EngineOutcome, ShownStep } from "./engine.ts";
import { eventually } from "./eventually.ts";
import { shootRun } from "./shoot-run.ts";
import { startTemporal } from "./temporal.ts";

/** Temporal's runner on a server of its own; steps of each run are carried out by a worker in a process of its own. */
export async function startTemporalEngine(): Promise<Engine> {
  const temporal = await startTemporal();
  const { address, client, connection } = temporal;
  const worker = await Worker.create({
    connection,
    taskQueue: gardenQueue,
    workflowsPath: fileURLToPath(new URL("engine-workflow.ts", import.meta.url)),
    activities: { writeStatus: async () => {}, park } satisfies Partial<GardenActivities>,
  });
  const working = worker.run();
  return {
    async begin(table, world, retryDuration) {
      const workflowId = `engine/${randomUUID()}`;
      const seedName = workflowId.slice(7);
      const start = () => startEngineChild("engine-seed-main.ts", address, seedName, world.folder);
      let child = start();
      const run = shootRun({ seedName, retryDuration });
      const handle = await client.workflow.start<typeof runEngineTable>("runEngineTable", {
        ...{ workflowId, taskQueue: gardenQueue, args: [table, run] },
      });
      const progress = async (): Promise<FlowProgress> => await handle.query(progressQuery);
      return {
        async outcome() {
          const isOver = async () => (await handle.describe()).status.name !== "RUNNING";
          return await eventually<EngineOutcome | false>(async () => {
            if (await isOver()) return await handle.result();
            return isAtRest(await progress()) && "parked";
          }, 100_000);
        },
        shown: async () => shownBy(await progress()),
        async goOn() {
          const before = parkedIn(await progress());
          await handle.executeUpdate(retryUpdate, { args: [{}] });
          // The activity that is open while a step is parked ends first.
          await eventually(async () => parkedIn(await progress()) !== before);
        },
        async tell(step) {
          await world.tell(step);
          const complete = async () =>
            await client.activity.complete({ workflowId, activityId: waitId(step) }, undefined);
          await eventually(async () => {
            await complete();
          });
        },
        interrupt: async () => void (await handle.cancel()),
        async kill() {
          await child.kill();
          child = start();
        },
        async close() {
          await handle.terminate().catch(() => {});
          await child.kill();
        },
      };
    },
    async stop() {
      worker.shutdown();
      await working;
      await temporal.stop();
    },
  };
}

/** A step has parked, and none moves. */
function isAtRest({ steps }: FlowProgress): boolean {
  const states = steps.map(({ state }) => state);
  return states.includes("parked") && !states.includes("running") && !states.includes("retrying");
}

const parkedIn = ({ steps }: FlowProgress): string => JSON.stringify(steps.filter(({ state }) => state === "parked"));

function shownBy({ steps }: FlowProgress): Record<string, ShownStep> {
  const looked = steps.filter(({ state }) => state !== "pending");
  return Object.fromEntries(
    looked.map(({ name, state, attempt, error }) => [
      name,
      {
        state,
        ...(attempt !== undefined && { attempt }),
        ...(error !== undefined && { message: error.message, codes: error.codes }),
      },
    ]),
  );
}

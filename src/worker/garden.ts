import { fileURLToPath } from "node:url";
import { Worker, type NativeConnection } from "@temporalio/worker";
import type { GardenActivities } from "../activities/index.ts";
import { gardenQueue } from "../workflows/contract.ts";

/** What the garden's worker runs with. `maxCachedWorkflows` bounds its memory: about 0.35 MB each. */
export interface GardenWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly activities: GardenActivities;
  readonly maxCachedWorkflows?: number;
}

/** The worker of queue `garden`: all workflows, and the activities that act on the garden. */
export function createGardenWorker(o: GardenWorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: o.connection,
    namespace: o.namespace,
    taskQueue: gardenQueue,
    workflowsPath: fileURLToPath(new URL(`../workflows/index${extension}`, import.meta.url)),
    activities: o.activities,
    maxCachedWorkflows: o.maxCachedWorkflows ?? 1_000,
    // The default costs ten seconds after a SIGKILL.
    stickyQueueScheduleToStartTimeout: "2s",
    shutdownGraceTime: "20s",
  });
}

/** We run as TypeScript from the source tree, and as JavaScript once published. */
const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

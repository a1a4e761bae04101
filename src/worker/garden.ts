import type { DataConverter } from "@temporalio/common";
import { Worker, type NativeConnection } from "@temporalio/worker";
import { HEARTBEAT_PERIOD, withHeartbeat } from "../activities/heartbeat.ts";
import type { GardenActivities } from "../activities/index.ts";
import type { BastionGardenActivities } from "../activities/bastion/activities.ts";
import type { InstallationGardenActivities } from "../activities/installation/activities.ts";
import { deploymentName } from "../client/builds.ts";
import { gardenQueue } from "../workflows/contract.ts";
import type { WorkflowBuild } from "./build.ts";

/** The garden's worker: its connection and its activities. */
export interface GardenWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** How payloads are encrypted; in the clear without it. */
  readonly dataConverter?: DataConverter;
  readonly activities: GardenActivities;
  /** What it does for installations of extensions; a worker without them serves Shoots only. */
  readonly installations?: InstallationGardenActivities;
  /** What it does for Bastions; a worker without them makes none. */
  readonly bastions?: BastionGardenActivities;
  readonly build: WorkflowBuild;
}

/**
 * The worker of queue `garden`: all workflows, and the activities that act on the garden. A workflow stays with the build that
 * it began under, and so do its activities on this queue, until `createRollout` of another build moves it.
 */
export function createGardenWorker(o: GardenWorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: o.connection,
    namespace: o.namespace,
    dataConverter: o.dataConverter ?? {},
    taskQueue: gardenQueue,
    workflowBundle: o.build.bundle,
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId: o.build.id },
      defaultVersioningBehavior: "PINNED",
    },
    activities: { ...o.activities, ...o.installations, ...o.bastions },
    interceptors: { activity: [() => ({ inbound: { execute: (input, next) => withHeartbeat(() => next(input)) } })] },
    maxHeartbeatThrottleInterval: HEARTBEAT_PERIOD,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // The default costs ten seconds after a SIGKILL.
    stickyQueueScheduleToStartTimeout: "2s",
    shutdownGraceTime: "20s",
  });
}

/**
 * How many workflows stay in memory, at 0.3 MB each: those that act at the same time, not all that wait. One that was dropped
 * goes on after a replay of its history.
 */
const CACHED_WORKFLOWS = 500;

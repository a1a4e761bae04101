import type { DataConverter } from "@temporalio/common";
import { Worker, type NativeConnection } from "@temporalio/worker";
import { HEARTBEAT_PERIOD, withHeartbeat } from "../activities/heartbeat.ts";
import type { SeedActivities } from "../activities/index.ts";
import type { BastionSeedActivities } from "../activities/bastion/activities.ts";
import type { InstallationSeedActivities } from "../activities/installation/activities.ts";
import { seedQueue } from "../workflows/contract.ts";
import { createSlots } from "./slots.ts";

/** A seed's worker: its connection, the seed that names its queue, and its activities. */
export interface SeedWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** How payloads are encrypted; in the clear without it. */
  readonly dataConverter?: DataConverter;
  readonly seedName: string;
  readonly activities: SeedActivities;
  /** What it does for installations of extensions; a worker without them serves Shoots only. */
  readonly installations?: InstallationSeedActivities;
  /** What it does for Bastions; a worker without them makes none. */
  readonly bastions?: BastionSeedActivities;
  /** Resolves when the Seed is known to be this cluster: no activity begins before. */
  readonly admitted?: Promise<void>;
}

/** The worker of queue `seed-<name>`: activities only, so that nothing but it needs access to the seed. */
export function createSeedWorker(o: SeedWorkerOptions): Promise<Worker> {
  const slots = createSlots({ atOnce: 60, perOwner: 30 });
  return Worker.create({
    connection: o.connection,
    namespace: o.namespace,
    dataConverter: o.dataConverter ?? {},
    taskQueue: seedQueue(o.seedName),
    activities: { ...o.activities, ...o.installations, ...o.bastions },
    // Of which most wait for a slot of ours, with few heartbeats.
    maxConcurrentActivityTaskExecutions: 300,
    interceptors: {
      activity: [
        () => ({
          inbound: {
            execute: (input, next) =>
              withHeartbeat(async () => {
                await o.admitted;
                return await slots.run(projectOf(input.args), () => withHeartbeat(() => next(input)));
              }, SLOW_HEARTBEAT),
          },
        }),
      ],
    },
    maxHeartbeatThrottleInterval: HEARTBEAT_PERIOD,
    // A flow begins up to six steps at once: what no poller waits for goes through Temporal's store first.
    activityTaskPollerBehavior: { type: "autoscaling", minimum: 6, initial: 6, maximum: 20 },
    shutdownGraceTime: "20s",
  });
}

/** In ms: of activities that wait for a slot. */
const SLOW_HEARTBEAT = 5_000;

/** Whose Shoot an activity acts for; what acts for none, such as for an installation, is the seed's own. */
const projectOf = ([run]: readonly unknown[]): string =>
  typeof run === "object" && run !== null && "project" in run ? String(run.project) : "";

import { heartbeat } from "@temporalio/activity";
import type { LeaderLookup } from "../dns/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { guarded } from "./failure.ts";
import type { GardenActivities } from "./index.ts";
import { createLeadership } from "./leadership.ts";
import { createMigrationCheck } from "./migration-check.ts";
import { createShootStatus } from "./shoot-status.ts";
import { readShootView, type Periods } from "./shoot-view.ts";

/** What the garden's activities need; `ended` resolves when the workflow of an id has ended, however it ended. */
export interface GardenDeps {
  readonly garden: KubeClient;
  readonly periods: Periods;
  readonly ended: (workflowId: string) => Promise<void>;
  /** Terminates a workflow; one that has ended already is fine. */
  readonly end: (workflowId: string, reason: string) => Promise<void>;
  /** Who leads, by the servers of the record's zone. */
  readonly lookup: LeaderLookup;
}

/** The activities of queue `garden`. */
export function createGardenActivities({ garden, periods, ended, end, lookup }: GardenDeps): GardenActivities {
  const status = createShootStatus(garden);
  const leadership = createLeadership({ garden, lookup });
  return guarded<GardenActivities>({
    readShoot: (ref) => readShootView(garden, ref, periods),
    beginOperation: (run, request) => status.begin(run, request),
    writeStatus: (run, written) => status.write(run, written),
    reportProblem: (ref, problem) => status.report(ref, problem),
    acknowledgeRequest: (ref, request) => status.acknowledge(ref, request),
    releaseShoot: (ref) => status.release(ref),
    ensureLeadership: (run) => leadership.ensureLeadership(run),
    checkMigration: createMigrationCheck({ garden }),
    flip: (run) => leadership.flip(run),
    leaveSeed: (run) => status.leave(run),
    removeLeadership: (run) => leadership.removeLeadership(run),
    endFlow: end,
    async followFlow(workflowId) {
      const beat = setInterval(() => heartbeat(), 10_000);
      await ended(workflowId).finally(() => clearInterval(beat));
    },
  });
}

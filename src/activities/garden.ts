import { heartbeat } from "@temporalio/activity";
import type { KubeClient } from "../kube/index.ts";
import { guarded } from "./failure.ts";
import type { GardenActivities } from "./index.ts";
import { createShootStatus } from "./shoot-status.ts";
import { readShootView, type Periods } from "./shoot-view.ts";

/** What the garden's activities need; `ended` resolves when the workflow of an id has ended, however it ended. */
export interface GardenDeps {
  readonly garden: KubeClient;
  readonly periods: Periods;
  readonly ended: (workflowId: string) => Promise<void>;
}

/** The activities of queue `garden`. */
export function createGardenActivities({ garden, periods, ended }: GardenDeps): GardenActivities {
  const status = createShootStatus(garden);
  return guarded<GardenActivities>({
    readShoot: (ref) => readShootView(garden, ref, periods),
    beginOperation: (run, request) => status.begin(run, request),
    writeStatus: (run, written) => status.write(run, written),
    reportProblem: (ref, problem) => status.report(ref, problem),
    acknowledgeRequest: (ref, request) => status.acknowledge(ref, request),
    releaseShoot: (ref) => status.release(ref),
    async followFlow(workflowId) {
      const beat = setInterval(() => heartbeat(), 10_000);
      await ended(workflowId).finally(() => clearInterval(beat));
    },
  });
}

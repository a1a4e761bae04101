import { ActivityCancellationType, ActivityFailure, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { SeedActivities } from "../activities/index.ts";
import { applyId } from "../api/activity-ids.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { sparedSteps } from "../flow/spared.ts";
import type { ShootFlow } from "./actions.ts";
import { seedQueue } from "./contract.ts";
import { longestWork } from "./proxies.ts";
import { surveyedActions } from "./surveyed.ts";

/** What a flow knows of its steps before it begins them. */
export interface FlowSurvey {
  /** Asks the seed which steps have nothing to do. Without an answer, every step runs. */
  look(step: string): Promise<void>;
  /** Whether the step may be left out. */
  spares(step: string): boolean;
}

/** The survey of one operation; until it has looked, it spares nothing. */
export function createSurvey(flow: ShootFlow, run: ShootRun): FlowSurvey {
  let spared: ReadonlySet<string> = new Set();
  return {
    async look(step) {
      const seed = proxyActivities<Pick<SeedActivities, "survey">>({
        taskQueue: seedQueue(run.seedName),
        activityId: applyId(step),
        summary: step,
        startToCloseTimeout: "2 minutes",
        scheduleToStartTimeout: run.seedDeadline,
        scheduleToCloseTimeout: longestWork(run),
        heartbeatTimeout: "10 seconds",
        cancellationType: ActivityCancellationType.TRY_CANCEL,
        retry: { maximumAttempts: 2 },
      });
      try {
        const settled = new Set(await seed.survey(run, surveyedActions(flow, run)));
        spared = sparedSteps(flow, run, { by: step, settled });
      } catch (error) {
        if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      }
    },
    spares: (step) => spared.has(step),
  };
}

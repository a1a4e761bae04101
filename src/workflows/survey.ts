import { ActivityCancellationType, ActivityFailure, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { SeedActivities, SurveyedAction } from "../activities/index.ts";
import { applyId } from "../api/activity-ids.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { sparedSteps } from "../flow/spared.ts";
import type { Action, ShootFlow } from "./actions.ts";
import { seedQueue } from "./contract.ts";
import { nodesOf } from "./step-runner.ts";

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

/** What the steps do in the seed that leads, as far as a survey can judge it. */
function surveyedActions({ steps }: ShootFlow, run: ShootRun): Record<string, SurveyedAction> {
  const found = [...steps].flatMap(([name, { do: action, when = [] }]) => {
    const surveyed = when.every((condition) => condition.holds(run)) ? surveyedAction(action, run) : undefined;
    return surveyed === undefined ? [] : [[name, surveyed] as const];
  });
  return Object.fromEntries(found);
}

function surveyedAction(action: Action, run: ShootRun): SurveyedAction | undefined {
  if (action.where !== "seed" || action.verb === "survey") return undefined;
  const { where: _, ...said } = action;
  return action.verb === "awaitNodes" ? { ...said, targets: [nodesOf(run)] } : said;
}

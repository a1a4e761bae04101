import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  isCancellation,
  patched,
  proxyActivities,
} from "@temporalio/workflow";
import type { RetryPolicy } from "@temporalio/common";
import type { GardenActivities, SeedActivities } from "../activities/index.ts";
import { answerId, parkedId } from "../api/activity-ids.ts";
import type { StepFailure } from "../api/shoot/run.ts";
import { summaryOf } from "../api/summaries.ts";
import { gardenQueue, seedQueue } from "./contract.ts";

/**
 * What a step waits for between two attempts. Temporal shows each by its name, and none adds to the history while it lasts.
 * Each ends at once when `asked` says that a retry is asked for.
 */
export interface Pauses {
  forTime(step: string, delay: number): Promise<void>;
  /** Until the worker of a seed that was silent does anything again. */
  forAnswer(step: string, seedName: string): Promise<void>;
  /** Until the API server of a seed is ready. */
  forApiServer(step: string, seedName: string): Promise<void>;
  /** Until an operator asks for a retry, be it by completing the open activity in Temporal. */
  forOperator(step: string, failure: StepFailure): Promise<void>;
}

/** The pauses of one operation's steps; `retryCommand` is the command line by which an operator has a step go on. */
export function createPauses(retryCommand: (step: string) => string, asked: (step: string) => boolean): Pauses {
  const forAnswer = (step: string, seedName: string, whose: "worker" | "API server", retry: RetryPolicy) => {
    const seed = proxyActivities<SeedActivities>({
      taskQueue: seedQueue(seedName),
      activityId: answerId(step),
      summary: summaryOf(step, `wait for the ${whose} of Seed ${seedName} to answer`),
      startToCloseTimeout: "1 minute",
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry,
    });
    return whileOpen(
      () => seed.answer(),
      () => asked(step),
    );
  };

  return {
    async forTime(step, delay) {
      await condition(() => asked(step), delay, { summary: summaryOf(step, "pause before the next attempt") });
    },
    // Whatever its worker says, it has answered.
    forAnswer: (step, seedName) => forAnswer(step, seedName, "worker", { maximumAttempts: 1 }),
    async forApiServer(step, seedName) {
      if (!patched("API servers are waited for")) return;
      await forAnswer(step, seedName, "API server", { initialInterval: "5s", maximumInterval: "10 minutes" });
    },
    async forOperator(step, { message: reason, codes }) {
      if (!waitsAreOpen()) return await condition(() => asked(step));
      const garden = proxyActivities<GardenActivities>({
        taskQueue: gardenQueue,
        activityId: parkedId(step),
        summary: summaryOf(step, `parked: ${reason}`),
        startToCloseTimeout: "1 minute",
        cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        // It fails with the reason, which Temporal then shows. Between two tries it holds no worker, and can be cancelled.
        retry: { initialInterval: "365 days", backoffCoefficient: 1, maximumInterval: "365 days" },
      });
      const remedy = `mend the cause, then complete this activity, or: ${retryCommand(step)}`;
      await whileOpen(
        () => garden.park({ step, reason, codes, remedy }),
        () => asked(step),
      );
    },
  };
}

/** Operations that began to wait under an earlier build knew timers and conditions only. */
export const waitsAreOpen = (): boolean => patched("waits are open activities");

/** Waits until an activity has ended, in whatever way; once `asked`, it is cancelled. Only a flow that is stopped makes it throw. */
async function whileOpen(activity: () => Promise<void>, asked: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  const ended = scope.run(activity).catch((error: unknown) => {
    if (isCancellation(error)) throw error;
  });
  try {
    await Promise.race([ended, condition(asked)]);
  } finally {
    scope.cancel();
    await ended.catch(() => {}); // cancelled by us: two open activities of one id wedge a workflow
  }
}

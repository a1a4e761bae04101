import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
} from "@temporalio/workflow";
import type { ShootRun, StepFailure } from "../api/shoot/run.ts";
import type { ProgressTracker } from "./progress-tracker.ts";

/** Requests that steps which wait for a retry go on now. */
export interface Retries {
  /** Steps that were asked to go on and have not yet. */
  readonly asked: Set<string>;
}

/** Tries work until it is done: what is worth a retry after a pause, all else once an operator asks for a retry. */
export function createAttempts(
  run: ShootRun,
  tracker: ProgressTracker,
  retries: Retries,
  resumed: (step: string) => Promise<void>,
): (step: string, work: () => Promise<void>) => Promise<void> {
  const asked = (step: string) => () => retries.asked.has(step);

  const pause = async (step: string, failure: WorkFailure, attempt: number, since: number) => {
    const delay = backoff(attempt);
    retries.asked.delete(step);
    const inTime = failure.silent === true || Date.now() + delay - since <= run.retryDuration;
    if (failure.retryable && inTime) {
      tracker.become(step, "retrying");
      await condition(asked(step), delay);
      return since;
    }
    tracker.become(step, "parked");
    await condition(asked(step));
    await CancellationScope.nonCancellable(() => resumed(step));
    return Date.now();
  };

  return async (step, work) => {
    let since = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (isCancellation(error)) throw error;
        const failure = failureOf(error);
        tracker.fail(step, failure, attempt);
        since = await pause(step, failure, attempt, since);
        tracker.become(step, "running");
      }
    }
  };
}

/** A failure, and whether another try may help. */
export interface WorkFailure extends StepFailure {
  readonly retryable: boolean;
  /** No worker has answered: the step is tried for as long as that lasts. */
  readonly silent?: boolean;
}

/** Five seconds, doubling, at most ten minutes; in ms. */
const backoff = (attempt: number): number => Math.min(5_000 * 2 ** (attempt - 1), 600_000);

/** The cause that the activity worker classified; anything else is worth another try. */
function failureOf(error: unknown): WorkFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const detail = cause.details?.[0];
    if (isWorkFailure(detail)) return detail;
    return { message: cause.message, codes: [], retryable: cause.nonRetryable !== true };
  }
  return { message: cause instanceof Error ? cause.message : String(cause), codes: [], retryable: true };
}

const isWorkFailure = (detail: unknown): detail is WorkFailure =>
  typeof detail === "object" && detail !== null && "message" in detail && "codes" in detail && "retryable" in detail;

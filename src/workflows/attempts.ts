import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation } from "@temporalio/workflow";
import type { StepFailure } from "../api/shoot/run.ts";
import { afterFailure, type Retryable } from "../flow/retry.ts";
import { createPauses, waitsAreOpen } from "./pauses.ts";
import type { ProgressTracker } from "./progress-tracker.ts";

/** Requests that steps which wait for a retry go on now. */
export interface Retries {
  /** Steps that were asked to go on and have not yet. */
  readonly asked: Set<string>;
}

/** How long work is tried, and how it is tried again by hand. */
export interface RetryLimits {
  /** How long, in ms, a retryable error is retried before the step parks. */
  readonly retryDuration: number;
  /** The command line by which an operator has a parked step go on. */
  readonly retryCommand: (step: string) => string;
}

/**
 * Tries work until it is done: what is worth a retry after a pause, what a silent seed has left undone once its worker
 * answers, all else once an operator asks for a retry. `seedName` is where the work is done, if in a seed.
 */
export function createAttempts(
  { retryDuration, retryCommand }: RetryLimits,
  tracker: ProgressTracker,
  retries: Retries,
  resumed: (step: string) => Promise<void>,
): (step: string, work: () => Promise<void>, seedName?: string) => Promise<void> {
  const isEndless = retryDuration === WITHOUT_END;
  const pauses = createPauses(retryCommand, (step) => retries.asked.has(step));

  /** Answers with the moment from which the step is tried. */
  const pause = async ({ step, seedName }: Tried, failure: WorkFailure, attempt: number, since: number) => {
    const { silent, unavailable } = failure;
    const next = afterFailure(failure, { attempt, elapsed: Date.now() - since, retryDuration });
    retries.asked.delete(step);
    if (next.then === "retry") {
      tracker.become(step, "retrying");
      if (silent !== undefined && waitsAreOpen()) {
        await pauses.forAnswer(step, silent);
        return Date.now();
      }
      await pauses.forTime(step, next.delay);
      if (isEndless && unavailable === true && seedName !== undefined) await pauses.forApiServer(step, seedName);
      return since;
    }
    tracker.become(step, "parked");
    await pauses.forOperator(step, failure);
    await CancellationScope.nonCancellable(() => resumed(step));
    return Date.now();
  };

  return async (step, work, seedName) => {
    let since = Date.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (isCancellation(error)) throw error;
        const failure = failureOf(error);
        tracker.fail(step, failure, attempt);
        since = await pause({ step, seedName }, failure, attempt, since);
        tracker.become(step, "running");
      }
    }
  };
}

/** As a run's `retryDuration`: what is worth a retry is tried for however long it takes. */
export const WITHOUT_END = Number.MAX_SAFE_INTEGER;

interface Tried {
  readonly step: string;
  readonly seedName: string | undefined;
}

/** A failure, and whether another try may help; `silent` is the Seed whose worker has not answered. */
export interface WorkFailure extends StepFailure, Retryable {
  /** An API server has not answered, or could not do its work. */
  readonly unavailable?: boolean;
}

/**
 * The cause that the activity worker classified; anything else is worth another try. A seed's worker may answer anything: what is not of its
 * type, or larger than a failure of ours, would be refused by the Shoot's status or by Temporal, which would keep the flow from going on.
 */
export function failureOf(error: unknown): WorkFailure {
  const isActivity = error instanceof ActivityFailure;
  const cause = isActivity ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (!(cause instanceof ApplicationFailure)) return { message, codes: [], retryable: true };
  const said = cause.details?.[0];
  if (!isWorkFailure(said))
    return { message: message.slice(0, LONGEST_MESSAGE), codes: [], retryable: cause.nonRetryable !== true };
  const { within, unavailable, silent } = said;
  return {
    message: (typeof said.message === "string" ? said.message : message).slice(0, LONGEST_MESSAGE),
    codes: codesIn(said.codes),
    retryable: said.retryable === true,
    ...(typeof within === "number" && within > 0 && { within: Math.max(within, SHORTEST_PAUSE) }),
    ...(unavailable === true && { unavailable }),
    // A seed's worker that has answered was not silent, and does not say so of another's.
    ...(typeof silent === "string" && !isActivity && { silent }),
  };
}

/** In characters; a status with the failures of all steps of a flow is one argument of an activity. */
const LONGEST_MESSAGE = 20_000;

/** In ms. */
const SHORTEST_PAUSE = 1_000;

/** Those that Temporal takes for a search attribute, and a Shoot's status for a code. */
const codesIn = (said: unknown): string[] => (Array.isArray(said) ? said.filter(isCode).slice(0, 20) : []);

const isCode = (said: unknown): said is string => typeof said === "string" && /^\w{1,100}$/.test(said);

const isWorkFailure = (said: unknown): said is { readonly [Field in keyof WorkFailure]: unknown } =>
  typeof said === "object" && said !== null && "message" in said && "codes" in said && "retryable" in said;

import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from "@temporalio/workflow";
import type { GardenActivities, SeedActivities, WaitTarget } from "../activities/index.ts";
import type { ShootRun, StepFailure } from "../api/shoot/run.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import { gardenQueue, seedQueue, workflowTypes } from "./contract.ts";
import type { StepRunner } from "./steps.ts";

/** Somebody's wish that waiting steps go on now. */
export interface Retries {
  /** Steps that were asked to go on and have not yet. */
  readonly asked: Set<string>;
}

/** What the steps of one operation work with. `resumed` is awaited before a parked step acts again. */
export function createStepRunner(
  run: ShootRun,
  tracker: ProgressTracker,
  retries: Retries,
  resumed: () => Promise<void>,
): StepRunner {
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
    await CancellationScope.nonCancellable(resumed);
    return Date.now();
  };

  return {
    async attempt(step, work) {
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
    },
    acting: (run, step) => uncancelled(actingActivities(run, step), (error) => explainSilence(error, run)),
    garden: (step) => uncancelled(gardenActivities(step)),
    async wait(run, step, targets) {
      const outcomes = await Promise.allSettled(targets.map((target) => waitFor(run, step, target)));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    },
  };
}

interface WorkFailure extends StepFailure {
  readonly retryable: boolean;
  /** Nobody has said anything: the step is tried for as long as that lasts. */
  readonly silent?: boolean;
}

/** Five seconds, doubling, at most ten minutes; in ms. */
const backoff = (attempt: number): number => Math.min(5_000 * 2 ** (attempt - 1), 600_000);

/** Writes are short; a few quick attempts ride out a hiccup before the flow counts it as a failure. */
function actingActivities(run: ShootRun, step: string): SeedActivities {
  return proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: `${step}/apply`,
    summary: step,
    startToCloseTimeout: "11 minutes",
    // A seed that is dead must not leave its Shoots silent.
    scheduleToStartTimeout: run.seedDeadline,
    // The worker beats for every activity: what a SIGKILL costs an activity that it interrupts.
    heartbeatTimeout: "10 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: "500ms", backoffCoefficient: 2, maximumInterval: "8s", maximumAttempts: 5 },
  });
}

function gardenActivities(step: string): GardenActivities {
  return proxyActivities<GardenActivities>({
    taskQueue: gardenQueue,
    activityId: `${step}/apply`,
    summary: step,
    startToCloseTimeout: "11 minutes",
    heartbeatTimeout: "30 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: "500ms", backoffCoefficient: 2, maximumInterval: "8s", maximumAttempts: 2 },
  });
}

/** A write that has begun is finished, also when the flow is asked to stop. */
function uncancelled<Activities extends object>(
  activities: Activities,
  translate: (error: unknown) => unknown = (error) => error,
): Activities {
  return new Proxy(activities, {
    get(target, name, receiver) {
      const activity = Reflect.get(target, name, receiver) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) =>
        CancellationScope.nonCancellable(() => activity(...args)).catch((error: unknown) => {
          throw translate(error);
        });
    },
  });
}

/**
 * The wait is completed from outside by the seed worker's watch. Its start-to-close timeout is the period after which
 * the level is checked again, so a lost registration heals itself, and a worker that is dead is noticed; its
 * schedule-to-close timeout is the deadline.
 */
async function waitFor(run: ShootRun, step: string, target: WaitTarget): Promise<void> {
  const waiting = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: target.activityId,
    summary: `${step}: wait for ${target.kind} ${target.name}`,
    startToCloseTimeout: Math.min(recheckPeriod(target), target.deadline),
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: target.deadline,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: "1s", backoffCoefficient: 1 },
  });
  try {
    await waiting.waitFor(run, target);
  } catch (error) {
    if (timeoutOf(error) === "SCHEDULE_TO_START") throw explainSilence(error, run);
    if (timeoutOf(error) === undefined) throw error;
    const explaining = proxyActivities<SeedActivities>({
      taskQueue: seedQueue(run.seedName),
      activityId: `${target.activityId}/explain`,
      summary: `${step}: why ${target.kind} ${target.name} is late`,
      startToCloseTimeout: "1 minute",
      scheduleToStartTimeout: run.seedDeadline,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
    });
    const { message, codes } = await explaining.explainWait(run, target).catch((silent: unknown) => {
      throw explainSilence(silent, run);
    });
    throw ApplicationFailure.create({ message, type: "Timeout", details: [{ message, codes, retryable: true }] });
  }
}

/** What isn't registered in an object that survives the worker is looked at more often. */
const recheckPeriod = ({ until }: WaitTarget): number => (until === "gone" || until === "nodesReady" ? 15_000 : 60_000);

const timeoutOf = (error: unknown) =>
  error instanceof ActivityFailure && error.cause instanceof TimeoutFailure ? error.cause.timeoutType : undefined;

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

/** A step that no worker has taken up says whose worker that is, and what an operator can do about it. */
function explainSilence(error: unknown, run: ShootRun): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== "SCHEDULE_TO_START") return error;
  const { seedName, seedDeadline } = run;
  const silence = `the worker of Seed ${seedName} has not answered for ${Math.round(seedDeadline / 1000)} s: it is down, or cannot reach Temporal`;
  const message = `${silence}${remedyOf(run)}`;
  const details: [WorkFailure] = [{ message, codes: [], retryable: true, silent: true }];
  return ApplicationFailure.create({ message, type: "Silence", details });
}

function remedyOf({ migration, seedName, namespace, name }: ShootRun): string {
  if (workflowInfo().workflowType === workflowTypes.cleanUp)
    return `; what it still holds of the Shoot is cleaned up when it is back`;
  if (migration?.source !== seedName) return "";
  return `; to move the Shoot without it: perennial shoot migrate ${namespace}/${name} --to ${migration.destination} --force-takeover --reason TEXT`;
}

const isWorkFailure = (detail: unknown): detail is WorkFailure =>
  typeof detail === "object" && detail !== null && "message" in detail && "codes" in detail && "retryable" in detail;

import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from "@temporalio/workflow";
import { commandLines } from "../api/command-lines.ts";
import type { GardenActivities, SeedActivities } from "../activities/index.ts";
import { applyId, waitId } from "../api/activity-ids.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { WorkFailure } from "./attempts.ts";
import { gardenQueue, seedQueue, workflowTypes } from "./contract.ts";

/** An operation that asks a seed's worker to act, and how long it waits for an answer. */
type Asking = Pick<ShootRun, "seedName" | "seedDeadline"> & Partial<Pick<ShootRun, "migration" | "namespace" | "name">>;

/** The seed's activities for the acting half of a step: short, tried a few times, and finished once they have begun. */
export function seedActivities<Activities extends object = SeedActivities>(
  run: Asking,
  step: string,
  activityId: string,
): Activities {
  const activities = proxyActivities<Activities>({
    taskQueue: seedQueue(run.seedName),
    activityId,
    summary: step,
    startToCloseTimeout: "11 minutes",
    // A seed that is dead must not leave its Shoots silent.
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: longestWork(run),
    // The worker beats for every activity: what a SIGKILL costs an activity that it interrupts.
    heartbeatTimeout: "10 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // A few quick attempts ride out a hiccup before the flow counts it as a failure.
    retry: { initialInterval: "500ms", backoffCoefficient: 2, maximumInterval: "8s", maximumAttempts: 5 },
  });
  return uncancelled(activities as Activities, (error) => explainSilence(error, run));
}

/**
 * In ms, for how long an activity of a seed is tried: its attempts take no longer, but each says itself when the next begins, and
 * a seed's worker may say never.
 */
export const longestWork = ({ seedDeadline }: Pick<ShootRun, "seedDeadline">): number => 3_600_000 + seedDeadline;

/**
 * The seed's activities that look whether something has come true, and throw until it has: between two looks Temporal waits,
 * and neither a slot nor the history grows. In ms, for how long.
 */
export const lookingActivities = <Activities extends object>(run: Asking, step: string, deadline = 600_000) =>
  proxyActivities<Activities>({
    taskQueue: seedQueue(run.seedName),
    activityId: waitId(step),
    summary: step,
    startToCloseTimeout: "1 minute",
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: deadline,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: "500ms", backoffCoefficient: 1.5, maximumInterval: "10s" },
  });

/** The same for the garden. */
export function gardenActivities<Activities extends object = GardenActivities>(step: string): Activities {
  const activities = proxyActivities<Activities>({
    taskQueue: gardenQueue,
    activityId: applyId(step),
    summary: step,
    startToCloseTimeout: "11 minutes",
    heartbeatTimeout: "30 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: "500ms", backoffCoefficient: 2, maximumInterval: "8s", maximumAttempts: 2 },
  });
  return uncancelled(activities as Activities, (error) => error);
}

/** The wait for leases: given up at once when the flow is stopped, and begun anew where its worker has died. */
export function leaseActivities({ leaseSeconds }: ShootRun, step: string): Pick<GardenActivities, "awaitLeases"> {
  return proxyActivities<GardenActivities>({
    taskQueue: gardenQueue,
    activityId: applyId(step),
    summary: step,
    startToCloseTimeout: 4 * leaseSeconds * 1000 + 60_000,
    heartbeatTimeout: "10 seconds",
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: "500ms", maximumInterval: "8s" },
  });
}

/** A write that has begun is finished, also when the flow is asked to stop. */
function uncancelled<Activities extends object>(
  activities: Activities,
  translate: (error: unknown) => unknown,
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

/** A step that no worker has taken up says whose worker that is, and what an operator can do about it. */
export function explainSilence(error: unknown, run: Asking): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== "SCHEDULE_TO_START") return error;
  const { seedName, seedDeadline } = run;
  const silence = `the worker of Seed ${seedName} has not answered for ${Math.round(seedDeadline / 1000)} s: it is down, or cannot reach Temporal`;
  const message = `${silence}${remedyOf(run)}`;
  const details: [WorkFailure] = [{ message, codes: [], retryable: true, silent: seedName }];
  return ApplicationFailure.create({ message, type: "Silence", details });
}

function remedyOf({ migration, seedName, namespace, name }: Asking): string {
  if (workflowInfo().workflowType === workflowTypes.cleanUp)
    return `; what it still holds of the Shoot is cleaned up when it is back`;
  if (migration?.source !== seedName || migration.returning === true) return "";
  return `; to move the Shoot without it: ${commandLines.takeOver(`${namespace}/${name}`, migration.destination)}`;
}

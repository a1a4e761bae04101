import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { SeedActivities, WaitTarget } from "../activities/index.ts";
import { explainId } from "../api/activity-ids.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { seedQueue } from "./contract.ts";
import { explainSilence } from "./proxies.ts";

/** Waits side by side; all are over before the first failure is thrown. */
export async function waitForAll(run: ShootRun, step: string, targets: readonly WaitTarget[]): Promise<void> {
  const outcomes = await Promise.allSettled(targets.map((target) => waitFor(run, step, target)));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
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
      activityId: explainId(target.activityId),
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

import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { SeedActivities, WaitTarget } from "../activities/index.ts";
import { explainId, waitId } from "../api/activity-ids.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { seedQueue } from "./contract.ts";
import { explainSilence } from "./proxies.ts";

/**
 * One activity waits for all that a step has changed. It is completed from outside by the seed worker's watch. Its
 * start-to-close timeout is the period after which the level is checked again, so a lost registration heals itself, and
 * a worker that is dead is noticed; its schedule-to-close timeout is the deadline.
 */
export async function waitFor(run: ShootRun, step: string, targets: readonly WaitTarget[]): Promise<void> {
  if (targets.length === 0) return;
  const what = inWords(targets);
  const deadline = Math.max(...targets.map((target) => target.deadline));
  const waiting = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: waitId(step),
    summary: `${step}: wait for ${what}`,
    startToCloseTimeout: Math.min(deadline, ...targets.map(recheckPeriod)),
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: deadline,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: "1s", backoffCoefficient: 1 },
  });
  try {
    await waiting.waitFor(run, targets);
  } catch (error) {
    if (timeoutOf(error) === "SCHEDULE_TO_START") throw explainSilence(error, run);
    if (timeoutOf(error) === undefined) throw error;
    const explaining = proxyActivities<SeedActivities>({
      taskQueue: seedQueue(run.seedName),
      activityId: explainId(waitId(step)),
      summary: `${step}: why ${what} ${targets.length === 1 ? "is" : "are"} late`,
      startToCloseTimeout: "1 minute",
      scheduleToStartTimeout: run.seedDeadline,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
    });
    const { message, codes } = await explaining.explainWait(run, targets).catch((silent: unknown) => {
      throw explainSilence(silent, run);
    });
    throw ApplicationFailure.create({ message, type: "Timeout", details: [{ message, codes, retryable: true }] });
  }
}

/** By name where there is one; else how many of which kinds. */
function inWords(targets: readonly WaitTarget[]): string {
  const [first] = targets;
  if (targets.length === 1) return `${first?.kind} ${first?.name}`;
  const kinds = [...new Set(targets.map(({ kind }) => kind))];
  return kinds.map((kind) => `${targets.filter((target) => target.kind === kind).length} × ${kind}`).join(" and ");
}

/** What isn't registered in an object that survives the worker is looked at more often. */
const recheckPeriod = ({ until }: WaitTarget): number =>
  ["gone", "ended", "nodesReady"].includes(until) ? 15_000 : 60_000;

const timeoutOf = (error: unknown) =>
  error instanceof ActivityFailure && error.cause instanceof TimeoutFailure ? error.cause.timeoutType : undefined;

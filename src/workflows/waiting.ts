import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  patched,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { SeedActivities, Trouble, WaitTarget } from "../activities/index.ts";
import { explainId, waitId } from "../api/activity-ids.ts";
import type { ShootRun, StepFailure } from "../api/shoot/run.ts";
import { summaryOf } from "../api/summaries.ts";
import { failureOf, type WorkFailure } from "./attempts.ts";
import { seedQueue } from "./contract.ts";
import { explainSilence, longestWork } from "./proxies.ts";

/**
 * One activity waits for all that a step has changed. It is completed from outside by the seed worker's watch. Its
 * start-to-close timeout is the period after which the level is checked again, so a lost registration heals itself, and
 * a worker that is dead is noticed; its schedule-to-close timeout is the deadline. Trouble that shows meanwhile is told to
 * `troubled`, once each, and waited for to pass.
 */
export async function waitFor(
  run: ShootRun,
  step: string,
  targets: readonly WaitTarget[],
  troubled: (trouble: StepFailure) => void,
): Promise<void> {
  if (targets.length === 0) return;
  const end = Date.now() + Math.max(...targets.map(({ deadline }) => deadline));
  const told: string[] = [];
  for (;;) {
    try {
      // Awaited right here: one more function to await would change the order in which runs that have begun go on.
      return await waiting({ run, step, targets }, end).waitFor(run, targets, ...(told.length === 0 ? [] : [told]));
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === undefined)
        throw isLate(error) ? await whyLate({ run, step, targets }) : explainSilence(error, run);
      if (told.length === MOST_TOLD && patched("trouble has an end")) throw tooMuch(trouble);
      told.push(trouble.about);
      troubled(trouble);
    }
  }
}

/** How much trouble is told of one wait. A seed that has more, is asked again after a pause. */
const MOST_TOLD = 20;

function tooMuch({ message }: Trouble): ApplicationFailure {
  const details: [WorkFailure] = [{ message, codes: [], retryable: true }];
  return ApplicationFailure.create({ message, type: "TooMuchTrouble", details });
}

interface Wait {
  readonly run: ShootRun;
  readonly step: string;
  readonly targets: readonly WaitTarget[];
}

/** The activity that waits until `end`, in ms since the epoch. */
function waiting({ run, step, targets }: Wait, end: number): Pick<SeedActivities, "waitFor"> {
  const deadline = Math.max(end - Date.now(), 1_000);
  return proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: waitId(step),
    summary: summaryOf(step, `wait for ${inWords(targets)}`),
    startToCloseTimeout: Math.min(deadline, ...targets.map(recheckPeriod)),
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: deadline,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: "1s", backoffCoefficient: 1 },
  });
}

/** What stood in the way of a wait whose deadline has passed. */
function whyLate({ run, step, targets }: Wait): Promise<ApplicationFailure> {
  const explaining = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: explainId(waitId(step)),
    summary: summaryOf(step, `why ${inWords(targets)} ${targets.length === 1 ? "is" : "are"} late`),
    startToCloseTimeout: "1 minute",
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: longestWork(run),
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  return explaining.explainWait(run, targets).then(
    ({ message, codes }) =>
      ApplicationFailure.create({ message, type: "Timeout", details: [{ message, codes, retryable: true }] }),
    (silent: unknown) => {
      throw explainSilence(silent, run);
    },
  );
}

/** By name where there is one; else how many of which kinds. */
function inWords(targets: readonly WaitTarget[]): string {
  const [first] = targets;
  if (targets.length === 1) return `${first?.kind} ${first?.name}`;
  const kinds = [...new Set(targets.map(({ kind }) => kind))];
  return kinds.map((kind) => `${targets.filter((target) => target.kind === kind).length} × ${kind}`).join(" and ");
}

/** What isn't registered in an object that survives the worker is looked at more often, and what pods may know more of. */
const recheckPeriod = ({ until }: WaitTarget): number => (until === "ready" || until === "addressed" ? 60_000 : 15_000);

/** As the seed's worker tells it; what is no trouble's form counts as any other failure. */
function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)) return undefined;
  const { about } = (error.cause.details?.[0] ?? {}) as { readonly about?: unknown };
  if (error.cause.type !== "Trouble" || typeof about !== "string") return undefined;
  const { message, codes } = failureOf(error);
  return { message, codes, about: about.slice(0, 1_000), retryable: true };
}

/** Whether its time is over; where no worker has begun it, silence is what ended it. */
const isLate = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType !== "SCHEDULE_TO_START";

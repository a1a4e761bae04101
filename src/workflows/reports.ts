import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import type { GardenActivities, OperationStatus, SeedActivities } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { waitsAreOpen } from "./pauses.ts";
import { longestWork } from "./proxies.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import { gardenQueue, searchAttributes, seedQueue } from "./contract.ts";

/** `users`: progress goes into the Shoot's status and Cluster, too. `operators`: only the workflow itself shows it. */
export type Audience = "users" | "operators";

/** Reports where an operation is to its audience. */
export interface Reports {
  /** Tells every change until the operation has ended. It outlives a stop, so that the last word is written. */
  run(): Promise<void>;
  /** Says Processing to users and extensions before a parked step acts again: upstream extensions skip failed Shoots. */
  resumed(step: string): Promise<void>;
  /** Tells the state again, even if it is the one that was told last. */
  repeat(): void;
  end(): void;
}

/**
 * How often progress is written into the Shoot's status, in ms: soon at first, then less and less often, because each report is
 * eleven events of the history. Errors are written at once.
 */
const REPORT_PERIOD = { first: 10_000, most: 40_000 };

/** In ms: what the garden refuses to take down is offered again. */
const PAUSE_AFTER_REFUSAL = 30_000;

/** Writes the progress into the Shoot's status whenever it changed: one write at a time, errors first. */
export function createReports(tracker: ProgressTracker, run: ShootRun, audience: Audience): Reports {
  const exclusively = createMutex();
  const tell = createTeller(run, audience, () => tracker.isSettled("cluster"));
  let written = { all: 0, urgent: 0 };
  let period = REPORT_PERIOD.first;
  let ended = false;
  /** A run that was set back does not know what was told after the point where it begins: perhaps that it had failed. */
  let repeated = false;
  /** Another leader reports now. */
  let superseded = false;

  const urgent = () => repeated || tracker.changes.urgent !== written.urgent || tracker.status().state !== tell.last();
  const changed = () =>
    !superseded && (repeated || tracker.changes.all !== written.all || tracker.changes.urgent !== written.urgent);

  /** Nothing that cannot be told is worth an operation. */
  const attempt = async (status: OperationStatus): Promise<boolean> => {
    if (superseded) return true;
    try {
      await tell(status, repeated);
      repeated = false;
      return true;
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      superseded = error.cause instanceof ApplicationFailure && error.cause.type === "Superseded";
      return superseded;
    }
  };

  const write = async () => {
    let told = true;
    await exclusively(async () => {
      const before = written;
      written = { ...tracker.changes };
      setCurrentDetails(tracker.details());
      told = await attempt(tracker.status());
      if (!told) written = before;
    });
    if (!told)
      await sleep(PAUSE_AFTER_REFUSAL, { summary: "the garden refused the last report: pause before the next" });
  };

  return {
    run: () =>
      CancellationScope.nonCancellable(async () => {
        while (!ended) {
          await condition(() => ended || changed());
          if (!ended)
            await condition(() => ended || urgent(), period, { summary: "gather progress for the next report" });
          period = Math.min(2 * period, REPORT_PERIOD.most);
          if (changed()) await write();
        }
        while (changed()) await write();
      }),
    resumed: (step) =>
      exclusively(async () => {
        repeated ||= !(await attempt({ ...tracker.status(), state: "Processing", resumed: step }));
      }),
    repeat() {
      repeated = true;
    },
    end() {
      ended = true;
    },
  };
}

/** One at a time, in turn: two open activities of one id wedge a workflow. */
function createMutex() {
  let busy = false;
  return async (work: () => Promise<void>): Promise<void> => {
    while (busy) await condition(() => !busy); // another waiter may have begun first
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
    }
  };
}

/**
 * Writes a status into the garden; a state that has changed also into search attributes and Cluster. An operation that a
 * survey let leave the Cluster alone need not tell it of its success: it says nothing else.
 */
function createTeller(run: ShootRun, audience: Audience, isSettled: () => boolean) {
  const garden = proxyActivities<GardenActivities>({
    taskQueue: gardenQueue,
    activityId: "status",
    summary: "status",
    startToCloseTimeout: "30 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumInterval: "30s" },
  });
  const seed = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    activityId: "cluster-status",
    summary: "status, for extensions",
    startToCloseTimeout: "1 minute",
    scheduleToStartTimeout: run.seedDeadline,
    scheduleToCloseTimeout: longestWork(run),
    heartbeatTimeout: "10 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 5 },
  });
  let last: OperationStatus["state"] = "Processing";
  let lastPhase: string = last;

  const tell = async (status: OperationStatus, again: boolean): Promise<void> => {
    if (audience === "users") await garden.writeStatus(run, status);
    const [before, phase] = [last, phaseOf(status)];
    const sameState = status.state === before && !again;
    if (sameState && phase === lastPhase) return;
    [last, lastPhase] = [status.state, phase];
    showPhase(phase, status);
    if (sameState || audience !== "users" || !extensionsCare(run, last)) return;
    const isKnown = before === "Processing" && last === "Succeeded" && isSettled();
    if (again || !isKnown) await tellExtensions(seed, run);
  };
  return Object.assign(tell, { last: () => last });
}

function showPhase(phase: string, { lastErrors }: OperationStatus): void {
  const code = lastErrors.flatMap((error) => error.codes)[0];
  upsertSearchAttributes([
    { key: searchAttributes.phase, value: phase },
    { key: searchAttributes.errorCode, value: code ?? null },
  ]);
}

/** An operator has to act as soon as one step is parked, also while others move. */
const phaseOf = ({ state, parked }: OperationStatus): string =>
  state === "Failed" || (parked !== undefined && waitsAreOpen()) ? "Parked" : state;

/** Extensions read the Shoot's status in `Cluster`; what they look at is whether it failed. */
const extensionsCare = (
  { operation, namespaceUsable, migration }: ShootRun,
  state: OperationStatus["state"],
): boolean =>
  namespaceUsable &&
  (operation !== "Migrate" || migration?.takeover !== true) &&
  (state !== "Succeeded" || operation !== "Delete");

/** A seed that doesn't answer must not keep users from the truth; the next change of state carries it over. */
async function tellExtensions(seedActivities: SeedActivities, run: ShootRun): Promise<void> {
  try {
    await seedActivities.syncCluster(run);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

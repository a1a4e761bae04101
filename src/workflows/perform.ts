import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import type { GardenActivities, OperationStatus, SeedActivities } from "../activities/index.ts";
import type { ShootRun, StepProgress } from "../api/shoot-run.ts";
import { runFlow, type Flow } from "../flow/flow.ts";
import { createBoard, type Board } from "./board.ts";
import {
  gardenQueue,
  progressQuery,
  retrySignal,
  retryUpdate,
  searchAttributes,
  seedQueue,
  type RetryRequest,
} from "./contract.ts";
import { createHands, type Retries } from "./hands.ts";
import type { FlowSubject } from "./steps.ts";

/** How an operation ended: its flow reached its end, or it was asked to stop between steps. */
export type Outcome = "succeeded" | "stopped";

/** Who is told how a flow gets on: the Shoot's status and Cluster too, or only who looks at the workflow. */
export type Audience = "everybody" | "operators";

/** How often progress is written into the Shoot's status, in ms; errors are written at once. */
const REPORT_PERIOD = 5_000;

/**
 * Runs a flow for a Shoot and keeps the Shoot's status in step with it. Never fails for a step's sake: a step that
 * cannot go on is parked inside its row, and the operation stays open until the step is retried or the flow stopped.
 */
export async function perform(
  flow: Flow<FlowSubject>,
  run: ShootRun,
  audience: Audience = "everybody",
): Promise<Outcome> {
  const board = createBoard(flow, run, () => Date.now());
  const retries: Retries = { asked: new Set() };
  const reports = createReports(board, run, audience);
  answerTheOutside(board, retries, reports);

  const hands = createHands(run, board, retries, () => reports.resumed());
  const scope = CancellationScope.current();
  const reporting = reports.run();
  try {
    await runFlow(
      flow,
      { run, hands },
      {
        onChange: (step, state) => board.become(step, state),
        stopped: () => scope.consideredCancelled,
      },
    );
    // Asked to stop, a flow may still have had nothing left to do.
    if (board.progress().steps.some(({ state }) => state === "stopped")) return stopped();
    board.finish();
    return "succeeded";
  } catch (error) {
    if (scope.consideredCancelled) return stopped();
    throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), "FlowError");
  } finally {
    reports.end();
    await reporting;
  }
}

function stopped(): Outcome {
  upsertSearchAttributes([{ key: searchAttributes.phase, value: "Stopped" }]);
  return "stopped";
}

function answerTheOutside(board: Board, retries: Retries, reports: { repeat(): void }): void {
  const waiting = (step?: string) =>
    board
      .progress()
      .steps.filter((one) => waits(one) && (step === undefined || one.name === step))
      .map(({ name }) => name);
  const ask = (step?: string) => {
    const names = waiting(step);
    for (const name of names) retries.asked.add(name);
    return names;
  };
  setHandler(progressQuery, () => board.progress(), { description: "where the operation is, step by step" });
  const retryAll = () => {
    ask();
    reports.repeat();
  };
  setHandler(retrySignal, retryAll, { description: "retry every step that waits, and tell everybody where it is" });
  setHandler(retryUpdate, ({ step }) => ask(step), {
    description: "retry parked and retrying steps now",
    validator: ({ step }: RetryRequest) => {
      if (waiting(step).length > 0) return;
      throw ApplicationFailure.nonRetryable(
        step === undefined ? "no step waits for a retry" : `step ${step} does not wait for a retry`,
        "NothingToRetry",
      );
    },
  });
}

const waits = ({ state }: StepProgress): boolean => state === "parked" || state === "retrying";

/** Writes the board into the Shoot's status whenever it changed: one write at a time, errors first. */
function createReports(board: Board, run: ShootRun, audience: Audience) {
  const garden = proxyActivities<GardenActivities>({
    taskQueue: gardenQueue,
    activityId: "status",
    summary: "status",
    startToCloseTimeout: "30 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumInterval: "30s" },
  });
  const seed = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seed),
    activityId: "cluster-status",
    summary: "status, for extensions",
    startToCloseTimeout: "1 minute",
    scheduleToStartTimeout: run.seedDeadline,
    heartbeatTimeout: "10 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 5 },
  });
  let written = { all: 0, urgent: 0 };
  let state: OperationStatus["state"] = "Processing";
  let ended = false;
  let writing = false;
  /** A run that was set back does not know what was told after the point where it begins: perhaps that it had failed. */
  let repeated = false;

  const urgent = () => repeated || board.changes.urgent !== written.urgent || board.status().state !== state;
  const changed = () => repeated || board.changes.all !== written.all || board.changes.urgent !== written.urgent;

  /** One at a time: two open activities of one id wedge a workflow. */
  const exclusively = async (work: () => Promise<void>) => {
    await condition(() => !writing);
    writing = true;
    try {
      await work();
    } finally {
      writing = false;
    }
  };

  const tell = async (status: OperationStatus) => {
    if (audience === "everybody") await garden.writeStatus(run, status);
    if (status.state === state && !repeated) return;
    repeated = false;
    state = status.state;
    const code = status.lastErrors.flatMap((error) => error.codes)[0];
    upsertSearchAttributes([
      { key: searchAttributes.phase, value: state === "Failed" ? "Parked" : state },
      { key: searchAttributes.errorCode, value: code ?? null },
    ]);
    if (audience === "everybody" && extensionsCare(run, state)) await tellExtensions(seed, run);
  };

  const write = () =>
    exclusively(async () => {
      written = { ...board.changes };
      setCurrentDetails(board.details());
      await tell(board.status());
    });

  return {
    /** Until the operation has ended. Reports outlive a stop, so that the last word is written. */
    run: () =>
      CancellationScope.nonCancellable(async () => {
        while (!ended) {
          await condition(() => ended || changed());
          if (!ended) await condition(() => ended || urgent(), REPORT_PERIOD);
          if (changed()) await write();
        }
        if (changed()) await write();
      }),
    /** Says Processing to users and extensions before a parked step acts again: upstream extensions skip failed Shoots. */
    resumed: () => exclusively(() => tell({ ...board.status(), state: "Processing" })),
    /** Tells users and extensions the state again, even if it is the one that was told last. */
    repeat() {
      repeated = true;
    },
    end() {
      ended = true;
    },
  };
}

/** Extensions read the Shoot's status in `Cluster`; what they look at is whether it failed. */
const extensionsCare = (
  { operation, namespaceUsable, migration }: ShootRun,
  state: OperationStatus["state"],
): boolean =>
  namespaceUsable &&
  (operation !== "Migrate" || migration?.takeover !== true) &&
  (state !== "Succeeded" || operation !== "Delete");

/** A seed that doesn't answer must not keep users from the truth; the next change of state carries it over. */
async function tellExtensions(seed: SeedActivities, run: ShootRun): Promise<void> {
  try {
    await seed.syncCluster(run);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}

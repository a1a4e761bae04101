import {
  ApplicationFailure,
  CancellationScope,
  patched,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { ShootRun, StepProgress } from "../api/shoot/run.ts";
import { runFlow } from "../flow/flow.ts";
import { changesOf, tableOf } from "../flow/since.ts";
import type { ShootFlow } from "./actions.ts";
import type { Retries } from "./attempts.ts";
import { createProgressTracker, type ProgressTracker } from "./progress-tracker.ts";
import { progressQuery, retrySignal, retryUpdate, searchAttributes, type RetryRequest } from "./contract.ts";
import { createStepRunner } from "./step-runner.ts";
import { createSurvey } from "./survey.ts";
import { createReports, type Audience, type Reports } from "./reports.ts";

/** How an operation ended: its flow reached its end, or it was asked to stop between steps. */
export type Outcome = "succeeded" | "stopped";

/**
 * Runs a flow for a Shoot and keeps the Shoot's status in step with it. Never fails for a step's sake: a step that
 * cannot go on is parked inside its row, and the operation stays open until the step is retried or the flow stopped.
 */
export async function perform(table: ShootFlow, run: ShootRun, audience: Audience = "users"): Promise<Outcome> {
  const flow = asBegun(table);
  const tracker = createProgressTracker(flow, run, () => Date.now());
  const retries: Retries = { asked: new Set() };
  const reports = createReports(tracker, run, audience);
  answerTheOutside(tracker, retries, reports);

  const runStep = createStepRunner(run, tracker, retries, (step) => reports.resumed(step));
  const survey = createSurvey(flow, run);
  const scope = CancellationScope.current();
  const reporting = reports.run();
  let isStopped = false;
  try {
    await runFlow(flow, run, {
      carryOut: (action, step) => (action.verb === "survey" ? survey.look(step) : runStep(action, step)),
      settled: (step) => survey.spares(step),
      onChange: (step, state) => tracker.become(step, state),
      stopped: () => scope.consideredCancelled,
    });
    // Asked to stop, a flow may still have had nothing left to do.
    isStopped = tracker.progress().steps.some(({ state }) => state === "stopped");
    if (!isStopped) tracker.finish();
  } catch (error) {
    isStopped = scope.consideredCancelled;
    if (!isStopped)
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), "FlowError");
  } finally {
    // Under earlier builds it came before the last report, which could show another phase.
    const comesLast = isStopped && patched("the phase Stopped comes last");
    if (isStopped && !comesLast) showStopped();
    reports.end();
    await reporting;
    if (comesLast) showStopped();
  }
  return isStopped ? "stopped" : "succeeded";
}

/**
 * The table that this run began with, also when a later build goes on with it: its first task records, as a patch, the day
 * of the newest row. A run whose history has no such record began before any row had a day.
 */
function asBegun(table: ShootFlow): ShootFlow {
  return tableOf(
    table,
    changesOf(table).find((day) => patched(`table of ${day}`)),
  );
}

function showStopped(): void {
  upsertSearchAttributes([{ key: searchAttributes.phase, value: "Stopped" }]);
}

function answerTheOutside(tracker: ProgressTracker, retries: Retries, reports: Pick<Reports, "repeat">): void {
  const waiting = (step?: string) =>
    tracker
      .progress()
      .steps.filter((one) => waits(one) && (step === undefined || one.name === step))
      .map(({ name }) => name);
  const ask = (step?: string) => {
    const names = waiting(step);
    for (const name of names) retries.asked.add(name);
    return names;
  };
  setHandler(progressQuery, () => ({ ...tracker.progress(), ...ofBuild() }), {
    description: "where the operation is, step by step",
  });
  const retryAll = () => {
    ask();
    reports.repeat();
  };
  setHandler(retrySignal, retryAll, { description: "retry every step that waits, and report again where the flow is" });
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

/** Which build of the garden's worker has done the latest part of this run; unversioned workers have none. */
function ofBuild(): { build?: string } {
  const { currentDeploymentVersion } = workflowInfo();
  return currentDeploymentVersion === undefined ? {} : { build: currentDeploymentVersion.buildId };
}

const waits = ({ state }: StepProgress): boolean => state === "parked" || state === "retrying";

import { ApplicationFailure, CancellationScope, patched, upsertSearchAttributes } from "@temporalio/workflow";
import type { ShootRun } from "../api/shoot/run.ts";
import { runFlow } from "../flow/flow.ts";
import type { ShootFlow } from "./actions.ts";
import { answerTheOutside } from "./answers.ts";
import { asBegun } from "./as-begun.ts";
import type { Retries } from "./attempts.ts";
import { createProgressTracker } from "./progress-tracker.ts";
import { searchAttributes } from "./contract.ts";
import { createStepRunner } from "./step-runner.ts";
import { createSurvey } from "./survey.ts";
import { createReports, type Audience } from "./reports.ts";

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
  answerTheOutside(tracker, retries, () => reports.repeat());

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

function showStopped(): void {
  upsertSearchAttributes([{ key: searchAttributes.phase, value: "Stopped" }]);
}

import { ApplicationFailure, setHandler, workflowInfo } from "@temporalio/workflow";
import type { StepProgress } from "../api/shoot/run.ts";
import type { Retries } from "./attempts.ts";
import { progressQuery, retrySignal, retryUpdate, type RetryRequest } from "./contract.ts";
import type { ProgressTracker } from "./progress-tracker.ts";

/**
 * Answers queries of where an operation is, and requests to retry what waits: by an update, which is refused when nothing
 * waits, or by a signal, after which `repeat` has the state told again.
 */
export function answerTheOutside(tracker: ProgressTracker, retries: Retries, repeat: () => void): void {
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
    repeat();
  };
  setHandler(retrySignal, retryAll, { description: "retry every step that waits, and report again where the flow is" });
  setHandler(retryUpdate, ({ step }) => ask(step), {
    description: "retry parked and retrying steps now",
    validator: ({ step }: RetryRequest) => {
      if (waiting(step).length > 0) return;
      const others = waiting();
      const which = others.length === 0 ? "no step does" : `these do: ${others.join(", ")}`;
      throw ApplicationFailure.nonRetryable(
        step === undefined ? "no step waits for a retry" : `step ${step} does not wait for a retry, ${which}`,
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

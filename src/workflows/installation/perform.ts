import {
  ApplicationFailure,
  CancellationScope,
  patched,
  setCurrentDetails,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import type {
  InstallationGardenActivities,
  InstallationSeedActivities,
} from "../../activities/installation/activities.ts";
import { applyId } from "../../api/activity-ids.ts";
import { commandLines } from "../../api/command-lines.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { runFlow } from "../../flow/flow.ts";
import { answerTheOutside } from "../answers.ts";
import { asBegun } from "../as-begun.ts";
import { createAttempts, type Retries } from "../attempts.ts";
import { searchAttributes } from "../contract.ts";
import type { Outcome } from "../perform.ts";
import { createProgressTracker, type ProgressTracker } from "../progress-tracker.ts";
import { explainSilence, gardenActivities, lookingActivities, seedActivities } from "../proxies.ts";
import type { InstallationAction, InstallationFlow } from "./actions.ts";

/**
 * Runs a flow of an installation. Like a Shoot's operation it never fails for a step's sake: what cannot go on is parked
 * until an operator retries it, or the flow is stopped because something else is wanted.
 */
export async function performInstallation(table: InstallationFlow, run: InstallationRun): Promise<Outcome> {
  const flow = asBegun(table);
  const tracker = createProgressTracker(flow, run, () => Date.now());
  const retries: Retries = { asked: new Set() };
  answerTheOutside(tracker, retries, () => {});
  const retryCommand = (step: string) => commandLines.retryInstallation(run.name, step);
  const show = createShow(tracker, run);
  const attempt = createAttempts({ ...run, retryCommand }, showing(tracker, show), retries, async () => show());
  const scope = CancellationScope.current();
  try {
    await runFlow(flow, run, {
      carryOut: (action, step) => attempt(step, () => carryOut(action, step, run).finally(show)),
      onChange: (step, state) => {
        tracker.become(step, state);
        show();
      },
      stopped: () => scope.consideredCancelled,
    });
    if (scope.consideredCancelled) return "stopped";
    tracker.finish();
    show();
    return "succeeded";
  } catch (error) {
    if (scope.consideredCancelled) return "stopped";
    throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), "FlowError");
  }
}

async function carryOut({ where, verb, activity }: InstallationAction, step: string, run: InstallationRun) {
  if (where === "garden") return await gardenActivities<InstallationGardenActivities>(step)[activity](run);
  if (verb === "call") return await seedActivities<InstallationSeedActivities>(run, step, applyId(step))[activity](run);
  return await lookingActivities<InstallationSeedActivities>(run, step)
    [activity](run)
    .catch((error: unknown) => {
      throw explainSilence(error, run);
    });
}

/** A tracker for attempts: a step that begins to wait for a retry, or goes on, is shown at once. */
const showing = (tracker: ProgressTracker, show: () => void): ProgressTracker => ({
  ...tracker,
  become(step, state) {
    tracker.become(step, state);
    // Under earlier builds it was shown when another step moved.
    if (patched("steps that wait are shown at once")) show();
  },
});

/** Says in Temporal where the flow is, whenever that has changed. */
function createShow(tracker: ProgressTracker, run: InstallationRun): () => void {
  let last = "";
  return () => {
    setCurrentDetails(tracker.details());
    const { state, parked, lastErrors } = tracker.status();
    const phase = parked === undefined ? state : "Parked";
    const code = lastErrors.flatMap(({ codes }) => codes)[0] ?? null;
    const said = `${phase} ${code ?? ""}`;
    if (said === last) return;
    last = said;
    upsertSearchAttributes([
      { key: searchAttributes.phase, value: phase },
      { key: searchAttributes.errorCode, value: code },
      { key: searchAttributes.seed, value: run.seedName },
      { key: searchAttributes.operation, value: run.operation },
    ]);
  };
}

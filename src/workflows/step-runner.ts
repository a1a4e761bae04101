import { sleep } from "@temporalio/workflow";
import type { SeedActivities, WaitTarget } from "../activities/index.ts";
import { applyId, verifyId } from "../api/activity-ids.ts";
import { commandLines } from "../api/command-lines.ts";
import type { ShootRun, StepFailure } from "../api/shoot/run.ts";
import type { Action, SeedAction, SeedPlace, SleepAction, SurveyAction } from "./actions.ts";
import { createAttempts, type Retries } from "./attempts.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import { gardenActivities, leaseActivities, seedActivities } from "./proxies.ts";
import { nodesOf } from "./surveyed.ts";
import { waitFor } from "./waiting.ts";

/** Carries out what a step says; rejects only when the operation is cancelled. */
export type StepRunner = (action: Exclude<Action, SurveyAction>, step: string) => Promise<void>;

/**
 * Carries out the steps of one operation: retries what is worth retrying, parks what is not. `resumed` is awaited before a
 * parked step acts again. A write that has begun is finished, also when the flow is stopped; a wait is given up at once.
 */
export function createStepRunner(
  run: ShootRun,
  tracker: ProgressTracker,
  retries: Retries,
  resumed: (step: string) => Promise<void>,
): StepRunner {
  const retryCommand = (step: string) => commandLines.retryStep(`${run.namespace}/${run.name}`, step);
  const attempt = createAttempts({ retryDuration: run.retryDuration, retryCommand }, tracker, retries, resumed);
  return async (action, step) => {
    if (action.verb === "sleep") {
      const timer = sleep(duration(action, run), { summary: step });
      // A timer fires by the wall clock of the server that owns it, which may be set forward.
      const clocked =
        action.until === "leasesOver" ? attempt(step, () => leaseActivities(run, step).awaitLeases(run)) : timer;
      return void (await Promise.all([timer, clocked]));
    }
    if (action.where === "garden") return await attempt(step, () => gardenActivities(step)[action.activity](run));
    const there = inSeed(run, action.where);
    const troubled = (trouble: StepFailure) => tracker.fail(step, trouble);
    await attempt(step, () => actAndWait(there, step, action, troubled), there.seedName);
    const { then } = action;
    if (then === undefined) return;
    await attempt(step, () => seedActivities(there, step, applyId(step))[then](there), there.seedName);
  };
}

/** How long a step sleeps at least, in ms. */
const duration = ({ until }: SleepAction, { leaseSeconds, dnsTtl }: ShootRun): number =>
  1000 * (until === "leasesOver" ? 2 * leaseSeconds : dnsTtl);

/** The run as it is in the seed where the step acts. */
function inSeed(run: ShootRun, where: SeedPlace): ShootRun {
  if (where === "seed" || run.migration === undefined) return run;
  return { ...run, seedName: run.migration[where] };
}

async function actAndWait(
  run: ShootRun,
  step: string,
  action: SeedAction,
  troubled: (trouble: StepFailure) => void,
): Promise<void> {
  const seed = seedActivities(run, step, applyId(step));
  await waitFor(run, step, (await act(seed, run, step, action)) ?? [], troubled);
  if (action.verb === "snapshot") await seedActivities(run, step, verifyId(step)).keepSnapshot(run);
}

/** The acting half of a step; answers with what is to be waited for. */
async function act(
  seed: SeedActivities,
  run: ShootRun,
  step: string,
  action: SeedAction,
): Promise<readonly WaitTarget[] | void> {
  switch (action.verb) {
    case "deploy":
      return await seed.deployComponent(run, action.component, step);
    case "destroy":
      return await seed.destroyComponent(run, action.component, step);
    case "stop":
      return await seed.stopWorkload(run, action.component, step);
    case "apply":
      return await seed.applyExtension(run, action.kind, step, action.purpose);
    case "remove":
      return await seed.removeExtension(run, action.kind, step, action.purpose);
    case "migrate":
      return await seed.migrateExtension(run, action.kind, step, action.purpose);
    case "restore":
      return await seed.restoreExtension(run, action.kind, step, action.purpose);
    case "call":
      return await seed[action.activity](run, step);
    case "snapshot":
      return await seed.takeSnapshot(run, step);
    case "awaitNodes":
      return [nodesOf(run)];
  }
}

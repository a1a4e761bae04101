import {
  ActivityCancellationType,
  ActivityFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type {
  BastionGardenActivities,
  BastionNews,
  BastionSeedActivities,
  BastionTask,
} from "../activities/bastion/activities.ts";
import { applyId } from "../api/activity-ids.ts";
import type { BastionRef, BastionRun } from "../api/shoot/bastion-run.ts";
import { failureOf } from "./attempts.ts";
import { carryThrough } from "./carry-through.ts";
import { changedSignal, gardenQueue, searchAttributes } from "./contract.ts";
import { explainSilence, lookingActivities, seedActivities } from "./proxies.ts";

/**
 * Makes a Bastion of the garden in the seed that leads its Shoot, or takes it away, and ends. Nothing parks and nothing is
 * given up: what fails is told to the Bastion's users and tried again, until they change the Bastion, or its time is over.
 */
export async function bastion(ref: BastionRef): Promise<void> {
  const inbox = { changed: false };
  setHandler(changedSignal, () => void (inbox.changed = true), { description: "something about the Bastion changed" });
  for (let failures = 0; ;) {
    if (workflowInfo().continueAsNewSuggested) return await continueAsNew<typeof bastion>(ref);
    inbox.changed = false; // before reading: a signal during the read must not get lost
    const task = await garden("read").readBastion(ref);
    if (task === null) return;
    const outcome = await carryThrough(
      inbox,
      () => carryOut(ref, task),
      async () => JSON.stringify(await garden("read").readBastion(ref)) === JSON.stringify(task),
    );
    if (outcome === "done" && !inbox.changed) return;
    failures = outcome === "failed" ? failures + 1 : 0;
    if (outcome === "failed") await condition(() => inbox.changed, pauseAfter(failures));
  }
}

type Outcome = "done" | "failed";

/** Does what is to be done; what goes wrong is told to the Bastion. */
async function carryOut(ref: BastionRef, task: BastionTask): Promise<Outcome> {
  show(task);
  try {
    switch (task.is) {
      case "wait":
        await tell(ref, { is: "failed", message: `The bastion is not made: ${task.why}.` });
        return "failed";
      case "release":
        await garden("release").releaseBastion(ref);
        return "done";
      case "remove":
        await remove(task.run);
        return "done";
      case "apply":
        await apply(task.run);
        return "done";
    }
  } catch (error) {
    if (isCancellation(error)) throw error;
    const isLate = hasRunOut(error);
    if (isLate && task.is === "apply") return "failed"; // what is missing was told already
    const { message, codes } = isLate ? late : failureOf(error);
    const doing = task.is === "remove" ? "taken away" : "made";
    const about = "run" in task ? task.run : ref;
    await tell(about, { is: "failed", message: `The bastion cannot be ${doing}: ${message}`, codes });
    return "failed";
  }
}

/** Whether what was looked for has not come true in time. */
const hasRunOut = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  error.cause instanceof TimeoutFailure &&
  error.cause.timeoutType === "SCHEDULE_TO_CLOSE";

const late = { message: "its controller has not let it go yet", codes: [] };

async function apply(run: BastionRun): Promise<void> {
  await garden("hold").holdBastion(run);
  const timestamp = await seedActivities<BastionSeedActivities>(run, "apply", applyId("apply")).applyBastion(run);
  const since = Date.now();
  for (let told: string | undefined; ;) {
    const sight = await looking(run, "ready", (seed) => seed.lookAtBastion(run, timestamp, told, since));
    if (sight.ready) return await tell(run, { is: "ready", ingress: sight.ingress });
    const { message, codes } = sight;
    await tell(run, { is: "failed", message: `The bastion is not ready: ${message}`, codes });
    told = message;
  }
}

async function remove(run: BastionRun): Promise<void> {
  await tell(run, { is: "deleting" });
  await seedActivities<BastionSeedActivities>(run, "remove", applyId("remove")).removeBastion(run);
  await looking(run, "removed", (seed) => seed.confirmBastionRemoved(run));
  await garden("release").releaseBastion(run);
}

const tell = (ref: BastionRef | BastionRun, news: BastionNews): Promise<void> => garden("tell").tellBastion(ref, news);

const looking = <T>(run: BastionRun, step: string, look: (seed: BastionSeedActivities) => Promise<T>): Promise<T> =>
  look(lookingActivities<BastionSeedActivities>(run, step, run.lookDeadline)).catch((error: unknown) => {
    throw explainSilence(error, run);
  });

const garden = (step: string) =>
  proxyActivities<BastionGardenActivities>({
    taskQueue: gardenQueue,
    activityId: step,
    summary: step,
    startToCloseTimeout: "30 seconds",
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumInterval: "30s" },
  });

/** Five seconds, doubling, at most a minute, in ms: a bastion lives for an hour. */
const pauseAfter = (failures: number): number => Math.min(5_000 * 2 ** (failures - 1), 60_000);

/** Says in Temporal what is done now, and for which Shoot. */
function show(task: BastionTask): void {
  const details = "why" in task ? `${task.is}: ${task.why}` : task.is;
  setCurrentDetails(details);
  if (!("run" in task)) return;
  const { shoot, seedName } = task.run;
  upsertSearchAttributes([
    { key: searchAttributes.shoot, value: `${shoot.namespace}/${shoot.name}` },
    { key: searchAttributes.seed, value: seedName },
    { key: searchAttributes.operation, value: task.is === "remove" ? "Delete" : "Reconcile" },
  ]);
}

import {
  ActivityFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
  ActivityCancellationType,
} from "@temporalio/workflow";
import type { GardenActivities, ShootView } from "../activities/index.ts";
import type { ShootRef, ShootRun } from "../api/shoot/run.ts";
import { oneLine } from "../api/summaries.ts";
import { changedSignal, gardenQueue } from "./contract.ts";
import { asksFor, decide, supersedes, type Decision } from "./decide.ts";
import { startCleanUps, startOperation, takeUpOperation, type RunningOperation } from "./operation.ts";

/**
 * One Shoot, one workflow: runs the operation its state asks for, one at a time, whenever something changed, until the
 * Shoot is gone. A change never says what changed; the Shoot is read again.
 */
export async function shoot(ref: ShootRef): Promise<void> {
  const inbox = { changed: false };
  setHandler(changedSignal, () => void (inbox.changed = true), { description: "something about the Shoot changed" });

  await patiently(inbox, () => seeThroughWhatIsRunning(ref, inbox));
  while (await patiently(inbox, () => look(ref, inbox))) await beginAnewInTime(ref, inbox);
}

interface Inbox {
  changed: boolean;
}

/** Nothing that the garden refuses ends a Shoot's workflow: it looks again after a pause, or when something has changed. */
async function patiently(inbox: Inbox, work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    await condition(() => inbox.changed, PAUSE_AFTER_FAILURE, { summary: "pause after what the garden refused" });
    return true;
  }
}

/** Operations outlive this workflow's runs, whether these end in order or are terminated. */
async function seeThroughWhatIsRunning(ref: ShootRef, inbox: Inbox): Promise<boolean> {
  const run = await garden("find what is running").findOperation(ref);
  if (run === null) return true;
  inbox.changed = true; // signals to an earlier run may be lost: read again
  await seeThrough(run, takeUpOperation(run), inbox);
  return true;
}

/** Reads the Shoot and does what it asks for; false when it is gone. */
async function look(ref: ShootRef, inbox: Inbox): Promise<boolean> {
  inbox.changed = false; // before reading: a signal during the read must not get lost
  const view = await garden("read").readShoot(ref);
  if (view === null) return false;
  const decision = decide(view, Date.now(), Math.random());
  await startCleanUps(view);
  await act(decision, view, ref, inbox);
  return true;
}

async function beginAnewInTime(ref: ShootRef, inbox: Inbox): Promise<void> {
  if (workflowInfo().continueAsNewSuggested && !inbox.changed) await continueAsNew<typeof shoot>(ref);
}

async function act(decision: Decision, view: ShootView, ref: ShootRef, inbox: Inbox): Promise<void> {
  if (decision.do === "operate") return operate(decision.run, decision.request, inbox);
  if (decision.do === "release") return garden("release", "2 minutes").releaseShoot(ref); // the DNS takes its time
  if (decision.do === "report" && view.problem) await garden("report").reportProblem(ref, view.problem);
  const [period, what] =
    decision.do === "wait"
      ? [decision.for, `wait until ${decision.until}`]
      : [view.syncPeriod, `wait for a change, as no operation can begin: ${view.problem?.message}`];
  await condition(() => inbox.changed, period, { summary: oneLine(what) });
}

/** Sees one operation through, while changes decide whether it is still the right one. */
async function operate(run: ShootRun, request: string | undefined, inbox: Inbox): Promise<void> {
  await garden("begin").beginOperation(run, request);
  await seeThrough(run, startOperation(run), inbox);
}

async function seeThrough(run: ShootRun, operation: RunningOperation, inbox: Inbox): Promise<void> {
  while (!operation.ended()) {
    await condition(() => inbox.changed || operation.ended());
    if (operation.ended()) break;
    inbox.changed = false;
    await patiently(inbox, () => reconsider(run, operation));
    await beginAnewInTime(run, inbox);
  }
  const completed = await operation.result();
  if (completed) return;
  await condition(() => inbox.changed, PAUSE_AFTER_FAILURE, { summary: "pause after an operation that broke off" });
}

/** In ms: the pause before an operation that was terminated, broke or was refused begins again. */
const PAUSE_AFTER_FAILURE = 10_000;

async function reconsider(run: ShootRun, operation: RunningOperation): Promise<boolean> {
  const view = await garden("read").readShoot(run);
  if (view !== null) await startCleanUps(view);
  if (view === null || supersedes(view, run)) {
    await operation.stop(isTakenOver(view) ? TAKEOVER_STOP_TIMEOUT : undefined);
  } else if (asksFor(view, "retry")) {
    await operation.retry();
    await garden("acknowledge").acknowledgeRequest(run, view.request ?? "", ["retry"]);
  }
  return true;
}

/** In ms: a takeover does not wait for what the old seed has begun; what still comes of it is fenced. */
const TAKEOVER_STOP_TIMEOUT = 15_000;

const isTakenOver = (view: ShootView | null): boolean => view?.run?.migration?.takeover === true;

const garden = (summary: string, startToCloseTimeout: "30 seconds" | "2 minutes" = "30 seconds"): GardenActivities =>
  proxyActivities<GardenActivities>({
    taskQueue: gardenQueue,
    summary,
    startToCloseTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumInterval: "30s" },
  });

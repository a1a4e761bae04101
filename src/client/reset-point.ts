import { commandLines } from "../api/command-lines.ts";
import { askedFor, workflowTypeOf, type History } from "./history.ts";
import { workflowTypes } from "../workflows/contract.ts";

/** Where a run is set back to so that it does a step again, and what else it then does again. */
export interface ResetPoint {
  readonly step: string;
  /** The workflow task that asked for the step first; the run goes on from just before it. */
  readonly task: number;
  /** Steps that had begun by then and were done, or begun, after it, in the order in which they began. */
  readonly again: readonly string[];
}

/** Says why a run cannot be set back to a step. */
export class ResetRefused extends Error {
  override readonly name = "ResetRefused";
}

/**
 * Steps that change what the steps before them work on: once one of them has begun, what came before cannot be done
 * again. The flip of a migration is the first of them.
 */
const pointsOfNoReturn: Readonly<Record<string, { readonly step: string; readonly because: string }>> = {
  [workflowTypes.migrate]: { step: "flip", because: "from there on the new Seed leads, and there is only forward" },
  [workflowTypes.restore]: {
    step: "etcd",
    because: "etcd has started on its new Seed, and no older snapshot may replace it",
  },
  [workflowTypes.delete]: { step: "removeNamespace", because: "nothing can be deployed into a namespace that goes" },
  [workflowTypes["force-delete"]]: { step: "removeNamespace", because: "a namespace that goes holds nothing any more" },
};

/** Finds the point of the history of a Shoot's run from which a step is done again. Throws `ResetRefused` with the reason and the remedy. */
export function findResetPoint(history: History, step: string, shoot: string): ResetPoint {
  const asked = askedFor(history);
  const first = asked.find((one) => one.step === step);
  if (first === undefined) {
    const begun = [...new Set(asked.flatMap((one) => one.step ?? []))];
    throw new ResetRefused(`step ${step} has not begun in this run: choose one of ${begun.join(", ")}`);
  }
  const limit = pointsOfNoReturn[workflowTypeOf(history)];
  const passed = asked.find((one) => one.step === limit?.step);
  if (limit && passed && first.task <= passed.task)
    throw new ResetRefused(
      `step ${step} lies before ${limit.step}, which has begun: ${limit.because}; let the run go on with: ${commandLines.retryShoot(shoot)}`,
    );
  return { step, task: first.task, again: doneAgain(history, first.task) };
}

/** An activity that was asked for before the point, but ended after it, is started anew as well. */
function doneAgain(history: History, task: number): string[] {
  const endedBefore = new Set(
    history.events.flatMap((event) => (Number(event.eventId) < task ? (endOf(event) ?? []) : [])),
  );
  const again = askedFor(history).filter(
    (one) => one.task >= task || (isActivity(one.what) && !endedBefore.has(one.event)),
  );
  return [...new Set(again.flatMap((one) => one.step ?? []))];
}

const isActivity = (what: string): boolean => what.includes("/");

function endOf(event: History["events"][number]): number | undefined {
  const ended = event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes;
  const timedOut = event["activityTaskTimedOutEventAttributes"] ?? event["activityTaskCanceledEventAttributes"];
  const scheduled = (ended ?? (timedOut as typeof ended))?.scheduledEventId;
  return scheduled === undefined ? undefined : Number(scheduled);
}

import type { Shoot } from "../../api/index.ts";
import type { ShootOperation, ShootRun } from "../../api/shoot/run.ts";
import type { Occurrence } from "../../kube/index.ts";
import type { OperationStatus } from "../index.ts";

/** Something that became of a Shoot, as an Event of it says. */
export type Chapter = Pick<Occurrence, "type" | "reason" | "note">;

type Status = NonNullable<Shoot["status"]>;

/** What is told when an operation begins. One that begins again where it was cut off has been told of. */
export function beginningStory(run: ShootRun, before: Status): Chapter[] {
  const { operation, seedName, hibernated, generation } = run;
  const { type, state } = before.lastOperation ?? {};
  if (type === operation && state === "Processing" && before.observedGeneration === generation) return [];
  const begun = { reason: reasons[operation].begun, note: `${operation} has begun in Seed ${seedName}` };
  if ((before.hibernated ?? false) === hibernated) return [begun];
  return [
    begun,
    hibernated
      ? { reason: "Hibernating", note: "The Shoot is put to sleep" }
      : { reason: "WakingUp", note: "The Shoot is woken up" },
  ];
}

/** What a report of an operation adds to what the Shoot's status says: steps that parked, are held up or went on, and how it ended. */
export function progressStory({ operation, seedName }: ShootRun, before: Status, report: OperationStatus): Chapter[] {
  const { state, description, lastErrors, parked = [], delayed = [], resumed } = report;
  const known = new Set(before.lastErrors?.map(({ taskID, lastUpdateTime }) => `${taskID} ${lastUpdateTime}`));
  const said = new Set(before.lastErrors?.map(({ taskID, description }) => `${taskID} ${description}`));
  const chapters: Chapter[] = lastErrors.flatMap(({ taskID, description, lastUpdateTime }) => [
    ...(delayed.includes(taskID) && !said.has(`${taskID} ${description}`)
      ? [warning("StepDelayed", `Step ${taskID} goes on waiting: ${description}`)]
      : []),
    ...(parked.includes(taskID) && !known.has(`${taskID} ${lastUpdateTime}`)
      ? [warning("StepParked", `Step ${taskID} waits for a retry: ${description}`)]
      : []),
  ]);
  const { done, failed } = reasons[operation];
  if (resumed !== undefined) chapters.push({ reason: "StepResumed", note: `Step ${resumed} goes on` });
  if (state === "Failed" && before.lastOperation?.state !== "Failed")
    chapters.push(warning(failed, `${operation} cannot go on: ${description}`));
  if (state === "Succeeded") chapters.push({ reason: done, note: `${operation} has succeeded in Seed ${seedName}` });
  return chapters;
}

const warning = (reason: string, note: string): Chapter => ({ type: "Warning", reason, note });

/** What is told when another seed leads. */
export function flipStory({ seed, epoch, previousSeed = "", takeover }: Leadership): Chapter {
  return takeover === true
    ? {
        type: "Warning",
        reason: "TakenOver",
        note: `Seed ${seed} has taken over from Seed ${previousSeed}: epoch ${epoch}`,
      }
    : { reason: "Flipped", note: `Seed ${seed} leads, no longer Seed ${previousSeed}: epoch ${epoch}` };
}

type Leadership = NonNullable<Status["leadership"]>;

/** Upstream's words, where it has one. */
const reconciling = { begun: "Reconciling", done: "Reconciled", failed: "ReconcileError" } as const;
const reasons = {
  Create: reconciling,
  Reconcile: reconciling,
  Restore: reconciling,
  Delete: { begun: "Deleting", done: "Deleted", failed: "DeleteError" },
  Migrate: { begun: "PrepareMigration", done: "MigrationPrepared", failed: "MigrationPreparationFailed" },
} as const satisfies Record<ShootOperation, Record<"begun" | "done" | "failed", string>>;

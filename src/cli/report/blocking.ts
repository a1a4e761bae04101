import type { Shoot } from "../../api/index.ts";
import type { FlowProgress, StepFailure, StepProgress } from "../../api/shoot/run.ts";
import { phaseOf } from "./phase.ts";

/** The one step that an operation waits for, and since when. */
export interface Blocking {
  readonly step: string;
  readonly state: StepProgress["state"];
  readonly since?: string;
  readonly attempt?: number;
  readonly error?: StepFailure;
}

/**
 * The step that stands in the way: parked steps, which wait for an operator, come before those that wait for their next
 * attempt and those at work, in trouble before those that are not; of equals, the oldest. Undefined when no step is in the way.
 */
export function findBlocking({ steps, finishedAt }: FlowProgress): Blocking | undefined {
  if (finishedAt !== undefined) return undefined;
  for (const state of ["parked", "failed", "retrying", "running"] as const) {
    const inState = steps.filter((step) => step.state === state).sort(bySince);
    const first = inState.find(({ error }) => error !== undefined) ?? inState[0];
    if (first) return withoutName(first);
  }
  return undefined;
}

/** The same from the Shoot's status alone, for when no worker answers: the oldest error, or none. */
export function blockingFromStatus(shoot: Shoot): Blocking | undefined {
  const state = shoot.status?.lastOperation?.state;
  if (phaseOf(shoot) === "ready" || state === "Succeeded") return undefined;
  const errors = [...(shoot.status?.lastErrors ?? [])];
  const oldest = errors.sort((a, b) => (a.lastUpdateTime ?? "").localeCompare(b.lastUpdateTime ?? ""))[0];
  if (!oldest) return undefined;
  return {
    step: oldest.taskID ?? "the operation as a whole",
    state: state === "Failed" ? "parked" : "retrying",
    ...(oldest.lastUpdateTime !== undefined && { since: oldest.lastUpdateTime }),
    error: { message: oldest.description, codes: oldest.codes ?? [] },
  };
}

function bySince(a: StepProgress, b: StepProgress): number {
  return (a.since ?? "").localeCompare(b.since ?? "");
}

function withoutName({ name, ...rest }: StepProgress): Blocking {
  return { step: name, ...rest };
}

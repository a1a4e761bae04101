import type { Client, WorkflowSignalWithStartOptions } from "@temporalio/client";
import { changedSignal, gardenQueue } from "../workflows/contract.ts";

/** A workflow on queue `garden` that is started with one argument. */
export interface Nudged<Ref> {
  readonly type: string;
  readonly workflowId: string;
  readonly ref: Ref;
  /** By which the Temporal UI lists it. */
  readonly summary: string;
  readonly more?: Pick<WorkflowSignalWithStartOptions, "typedSearchAttributes" | "workflowIdConflictPolicy">;
}

/** Says that something changed to the workflow of this id; starts it when there is none. */
export async function nudge<Ref>(client: Client, { type, workflowId, ref, summary, more }: Nudged<Ref>): Promise<void> {
  await client.workflow.signalWithStart(type, {
    workflowId,
    taskQueue: gardenQueue,
    args: [ref],
    signal: changedSignal,
    signalArgs: [],
    staticSummary: summary,
    ...more,
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { eventually } from "../support/eventually.ts";

/** A step of a flow whose workflow is followed. */
export interface Target {
  readonly workflowId: string;
  readonly step: string;
}

/** A blow that falls when a flow comes to a step. */
export interface Strike {
  /** Resolves with true when it fell, with false when the flow ended without coming to the step. */
  readonly fallen: Promise<boolean>;
  /** Nobody waits for the step any more. */
  cancel(): void;
}

/** Steps that do nothing but let time pass are known by how much, in s. */
export type Durations = Readonly<Record<string, number>>;

/** Arms the blow for the next run of the workflow; it falls as soon as the server knows that the step has begun. */
export async function armStrike(
  client: Client,
  target: Target,
  durations: Durations,
  blow: () => Promise<void>,
): Promise<Strike> {
  const stopping = new AbortController();
  const before = await latestRun(client, target.workflowId);
  const strike = async (): Promise<boolean> => {
    const runId = await nextRun(client, target.workflowId, before, stopping.signal);
    if (runId === undefined || !(await comesTo(client, { ...target, runId }, durations, stopping.signal))) return false;
    await blow();
    return true;
  };
  return { fallen: strike(), cancel: () => stopping.abort() };
}

/** A server that is short of time does not answer every question. */
function latestRun(client: Client, workflowId: string): Promise<string | undefined> {
  return eventually(async () => {
    try {
      return (await client.workflow.getHandle(workflowId).describe()).runId;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  });
}

async function nextRun(client: Client, workflowId: string, before: string | undefined, signal: AbortSignal) {
  while (!signal.aborted) {
    const runId = await latestRun(client, workflowId);
    if (runId !== before) return runId;
    await sleep(20);
  }
  return undefined;
}

/** Reads the history as it grows: an activity of the step is scheduled, or a timer of its duration starts. */
async function comesTo(
  client: Client,
  { workflowId, runId, step }: Target & { readonly runId: string },
  durations: Durations,
  signal: AbortSignal,
): Promise<boolean> {
  let nextPageToken: Uint8Array | undefined;
  while (!signal.aborted) {
    const question = {
      namespace: "default",
      execution: { workflowId, runId },
      waitNewEvent: true,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    };
    const page = await eventually(() => client.workflowService.getWorkflowExecutionHistory(question));
    if (page.history?.events?.some((event) => begins(event, step, durations))) return true;
    nextPageToken = page.nextPageToken;
    if (nextPageToken.length === 0) return false;
  }
  return false;
}

function begins(event: HistoryEvent, step: string, durations: Durations): boolean {
  const activity = event.activityTaskScheduledEventAttributes?.activityId ?? "";
  const timer = Number(event.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? Number.NaN);
  return activity.startsWith(`${step}/`) || timer === durations[step];
}

/** What an event says of activities and timers. */
interface HistoryEvent {
  readonly activityTaskScheduledEventAttributes?: { readonly activityId?: string | null } | null;
  readonly timerStartedEventAttributes?: {
    readonly startToFireTimeout?: { readonly seconds?: unknown } | null;
  } | null;
}

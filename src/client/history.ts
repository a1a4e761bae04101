import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { stepOfActivity } from "../api/activity-ids.ts";
import { stepOfSummary } from "../api/summaries.ts";
import { parseJson } from "../parsing.ts";
import { decodeHistory } from "./payloads/history.ts";

/** A workflow's history in Temporal's own JSON: what its UI and `temporal workflow show -o json` write too. */
export interface History {
  readonly events: readonly HistoryEvent[];
}

/** One event, as far as we read it. Numbers are texts, as in all of Temporal's JSON. */
export interface HistoryEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly userMetadata?: { readonly summary?: { readonly metadata?: object; readonly data?: string } };
  readonly workflowExecutionStartedEventAttributes?: { readonly workflowType?: { readonly name?: string } };
  readonly activityTaskScheduledEventAttributes?: Command & { readonly activityId?: string };
  readonly activityTaskCompletedEventAttributes?: Completion;
  readonly activityTaskFailedEventAttributes?: Completion;
  readonly timerStartedEventAttributes?: Command;
  readonly [attributes: string]: unknown;
}

interface Command {
  readonly workflowTaskCompletedEventId?: string;
}

interface Completion {
  readonly scheduledEventId?: string;
}

/** Something that workflow code asked for: the event that says so, the workflow task it was part of, and for which step. */
export interface Asked {
  readonly event: number;
  readonly task: number;
  /** The activity's id, or what else it is. */
  readonly what: string;
  readonly step: string | undefined;
}

/** The history of a workflow's latest run; undefined when there is no such workflow. */
export async function fetchHistory(client: Client, workflowId: string): Promise<History | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    await handle.describe(); // says plainly when there is none
    return await readable(client, await handle.fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw new Error(`cannot download the history of ${workflowId}`, { cause: error });
  }
}

/** A history as the SDK hands it out, in JSON and in the clear. */
export async function readable(client: Client, history: Parameters<typeof historyToJSON>[0]): Promise<History> {
  const parsed = parseJson(historyToJSON(history), "the history") as History;
  return await decodeHistory(parsed, client.options.loadedDataConverter);
}

/** The type of the workflow whose history it is; throws when it is no history. */
export function workflowTypeOf({ events }: History): string {
  const name = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
  if (name === undefined) throw new Error("this is no history of a workflow: its first event is not the start of one");
  return name;
}

/** What the workflow's code has asked for, in the order in which it did. */
export function askedFor({ events }: History): Asked[] {
  return events.flatMap((event) => {
    const task = taskOf(event);
    if (task === undefined) return [];
    const activity = event.activityTaskScheduledEventAttributes?.activityId;
    const what =
      activity ??
      event.eventType
        .replace(/^EVENT_TYPE_/, "")
        .toLowerCase()
        .replaceAll("_", " ");
    return [{ event: Number(event.eventId), task, what, step: stepOf(event) }];
  });
}

/** Every event that a command of workflow code became names the workflow task that it came from. */
function taskOf(event: HistoryEvent): number | undefined {
  const attributes = Object.entries(event).find(([key]) => key.endsWith("EventAttributes"))?.[1];
  const task = (attributes as Command | undefined)?.workflowTaskCompletedEventId;
  return task === undefined ? undefined : Number(task);
}

/** Activities are named `<step>/...`; a timer says its step first in its summary. */
function stepOf({ activityTaskScheduledEventAttributes, timerStartedEventAttributes, userMetadata }: HistoryEvent) {
  const activity = activityTaskScheduledEventAttributes?.activityId;
  if (activity !== undefined) return stepOfActivity(activity);
  const { metadata, data } = userMetadata?.summary ?? {};
  if (timerStartedEventAttributes === undefined || data === undefined) return undefined;
  const payload = { metadata: fromBase64(metadata), data: Buffer.from(data, "base64") };
  const summary: unknown = defaultPayloadConverter.fromPayload(payload);
  return typeof summary === "string" ? stepOfSummary(summary) : undefined;
}

function fromBase64(metadata: object | undefined): Record<string, Uint8Array> {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(String(value), "base64")]),
  );
}

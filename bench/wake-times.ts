import type { Client } from "@temporalio/client";

/** When, in ms since the epoch, Temporal wrote down that the wait was over, and that the flow had acted on it. */
export async function wakeTimes(client: Client, workflowId: string): Promise<{ woken: number; acted: number }> {
  const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
  const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes?.activityId?.endsWith("/wait"));
  const completed = events?.findIndex(
    ({ activityTaskCompletedEventAttributes: attributes }) =>
      attributes !== null &&
      attributes !== undefined &&
      String(attributes.scheduledEventId) === String(scheduled?.eventId),
  );
  const woken = events?.[completed ?? -1];
  const acted = events?.slice(completed).find((event) => event.workflowTaskCompletedEventAttributes);
  if (woken === undefined || acted === undefined)
    throw new Error(`the history of ${workflowId} has no wait that ended`);
  return { woken: timeOf(woken.eventTime), acted: timeOf(acted.eventTime) };
}

type Time = { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined;

const timeOf = (time: Time): number => Number(time?.seconds) * 1_000 + (time?.nanos ?? 0) / 1e6;

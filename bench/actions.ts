import type { temporal } from "@temporalio/proto";

type Event = temporal.api.history.v1.IHistoryEvent;

/**
 * How many of the actions are in a history that Temporal's cloud bills: starts of workflows and activities, retries, timers,
 * signals, updates, and search attributes that are not Temporal's own. Heartbeats and queries are in no history.
 */
export const actionsIn = (events: readonly Event[]): number => events.reduce((sum, event) => sum + actionsOf(event), 0);

function actionsOf(event: Event): number {
  const attributes = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields;
  if (attributes) return Object.keys(attributes).every((name) => name === "TemporalChangeVersion") ? 0 : 1;
  if (event.activityTaskStartedEventAttributes) return event.activityTaskStartedEventAttributes.attempt ?? 1;
  const billed = [
    event.workflowExecutionStartedEventAttributes,
    event.timerStartedEventAttributes,
    event.workflowExecutionSignaledEventAttributes,
    event.workflowExecutionUpdateAcceptedEventAttributes,
  ];
  return billed.some(Boolean) ? 1 : 0;
}

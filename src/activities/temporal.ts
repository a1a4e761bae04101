/**
 * The one door of the activities to the engine that calls them: who calls, whether it still wants an answer, and how a failure
 * is said. What a program without Temporal runs in its own process imports none of this.
 */
export {
  activityInfo,
  ApplicationFailure,
  cancellationSignal,
  CancelledFailure,
  CompleteAsyncError,
  heartbeat,
  type Info as ActivityInfo,
} from "@temporalio/activity";

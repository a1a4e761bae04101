import {
  ActivityCancellationType,
  CancellationScope,
  ChildWorkflowFailure,
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  startChild,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import type { GardenActivities } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot-run.ts";
import { flowFor, flowWorkflowId, gardenQueue, retrySignal, searchAttributes, workflowTypes } from "./contract.ts";

/** An operation that runs in a workflow of its own, with a history of its own. */
export interface RunningOperation {
  ended(): boolean;
  /** Asks it to end between steps and waits until it has. */
  stop(): Promise<void>;
  /** Asks every step that waits for a retry to go on. */
  retry(): Promise<void>;
  /** Waits until it has ended; false when it was terminated or failed instead of coming to an end of its own. */
  result(): Promise<boolean>;
}

/** Starts the operation's workflow, or takes it up again where an earlier run of the entity left it. */
export async function startOperation(run: ShootRun): Promise<RunningOperation> {
  const workflowId = flowWorkflowId(run, flowFor(run.operation));
  const state = { ended: false };
  const scope = new CancellationScope();
  const result = scope
    .run(() => follow(run, workflowId))
    .then(() => true, endedOtherwise)
    .finally(() => void (state.ended = true));
  const outside = getExternalWorkflowHandle(workflowId);
  return {
    ended: () => state.ended,
    async stop() {
      if (state.ended) return;
      await outside.cancel();
      await condition(() => state.ended);
    },
    retry: () => outside.signal(retrySignal),
    result: () => result,
  };
}

/** The child outlives its parent; a parent that comes back finds it running and waits for it from outside. */
async function follow(run: ShootRun, workflowId: string): Promise<void> {
  try {
    const child = await startChild(workflowTypes[flowFor(run.operation)], {
      workflowId,
      args: [run],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      staticSummary: `${run.operation} ${run.namespace}/${run.name}`,
      typedSearchAttributes: [
        { key: searchAttributes.shoot, value: `${run.namespace}/${run.name}` },
        { key: searchAttributes.project, value: run.project },
        { key: searchAttributes.seed, value: run.seed },
        { key: searchAttributes.operation, value: run.operation },
        { key: searchAttributes.phase, value: "Processing" },
      ],
    });
    await child.result();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await followed.followFlow(workflowId);
  }
}

const followed = proxyActivities<GardenActivities>({
  taskQueue: gardenQueue,
  summary: "follow the operation that is running",
  startToCloseTimeout: "30 days",
  heartbeatTimeout: "1 minute",
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Whatever ended it, the Shoot's status says what to do next; only our own mistakes are thrown. */
function endedOtherwise(error: unknown): boolean {
  if (isCancellation(error)) return true;
  if (error instanceof ChildWorkflowFailure) return false;
  throw error;
}

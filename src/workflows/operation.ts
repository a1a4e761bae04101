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
import { WorkflowExecutionAlreadyStartedError, type SearchAttributePair } from "@temporalio/common";
import type { GardenActivities, ShootView } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import {
  cleanUpWorkflowId,
  flowFor,
  flowWorkflowId,
  gardenQueue,
  retrySignal,
  searchAttributes,
  workflowTypes,
} from "./contract.ts";
import { cleanUpsOf } from "./decide.ts";

/** An operation that runs in a workflow of its own, with a history of its own. */
export interface RunningOperation {
  ended(): boolean;
  /** Asks it to end between steps and waits until it has; at most this long, in ms, then it is ended by force. */
  stop(timeout?: number): Promise<void>;
  /** Asks every step that waits for a retry to go on. */
  retry(): Promise<void>;
  /** Waits until it has ended; false when it was terminated or failed instead of coming to an end of its own. */
  result(): Promise<boolean>;
}

/** Starts the operation's workflow. */
export function startOperation(run: ShootRun): RunningOperation {
  const workflowId = flowWorkflowId(run, flowFor(run));
  return watch(workflowId, () => begin(run, workflowId));
}

/** Takes up the workflow of an operation that an earlier run of the Shoot's workflow has left running. */
export function takeUpOperation(run: ShootRun): RunningOperation {
  const workflowId = flowWorkflowId(run, flowFor(run));
  return watch(workflowId, () => followed.followFlow(workflowId));
}

function watch(workflowId: string, follow: () => Promise<void>): RunningOperation {
  const state = { ended: false };
  const scope = new CancellationScope();
  const result = scope
    .run(follow)
    .then(() => true, endedOtherwise)
    .finally(() => void (state.ended = true));
  const outside = getExternalWorkflowHandle(workflowId);
  return {
    ended: () => state.ended,
    async stop(timeout) {
      if (state.ended) return;
      await outside.cancel();
      const timer = { summary: "how long the operation may take to stop" };
      if (timeout !== undefined && !(await condition(() => state.ended, timeout, timer)))
        await ending.endFlow(workflowId, "the operation waits for a seed that is being taken over from");
      await condition(() => state.ended);
    },
    async retry() {
      if (!state.ended) await outside.signal(retrySignal).catch(ignoreEnded);
    },
    result: () => result,
  };
}

/** The child outlives its parent. One that another client has started already is waited for. */
async function begin(run: ShootRun, workflowId: string): Promise<void> {
  try {
    const child = await startChild(workflowTypes[flowFor(run)], {
      workflowId,
      args: [run],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      staticSummary: `${run.operation} ${run.namespace}/${run.name}`,
      typedSearchAttributes: attributesOf(run),
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

const ending = proxyActivities<GardenActivities>({
  taskQueue: gardenQueue,
  summary: "end the operation",
  startToCloseTimeout: "30 seconds",
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumInterval: "30s" },
});

/** Starts a workflow for every seed that holds something of the Shoot but does not lead; does not wait for them. */
export async function startCleanUps(view: ShootView): Promise<void> {
  for (const run of cleanUpsOf(view)) await startCleanUp(run);
}

async function startCleanUp(run: ShootRun): Promise<void> {
  try {
    await startChild(workflowTypes.cleanUp, {
      workflowId: cleanUpWorkflowId(run, run.seedName),
      args: [run],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `Clean up ${run.seedName} after ${run.namespace}/${run.name}`,
      typedSearchAttributes: attributesOf(run, "CleanUp"),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error; // it is at work
  }
}

const attributesOf = (run: ShootRun, operation: string = run.operation): SearchAttributePair[] => [
  { key: searchAttributes.shoot, value: `${run.namespace}/${run.name}` },
  { key: searchAttributes.project, value: run.project },
  { key: searchAttributes.seed, value: run.seedName },
  { key: searchAttributes.operation, value: operation },
  { key: searchAttributes.phase, value: "Processing" },
];

/** Ignores that the workflow ended before the signal reached it: the wait for its end answers that. */
function ignoreEnded(error: unknown): void {
  if (isCancellation(error)) throw error;
}

/** Whatever ended it, the Shoot's status says what to do next; only our own mistakes are thrown. */
function endedOtherwise(error: unknown): boolean {
  if (isCancellation(error)) return true;
  if (error instanceof ChildWorkflowFailure) return false;
  throw error;
}

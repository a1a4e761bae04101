import { status } from "@grpc/grpc-js";
import { partOf } from "./message-part.ts";
import { messages, typeOf, workflowMethod } from "./messages.ts";
import type { Upstream } from "./upstream.ts";

/** An activity that may wait to be answered from outside. */
export interface Waiting {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** The queue that an activity was given to, as Temporal says now; undefined when there is no such activity, or no more. */
export async function findWaitingQueue(
  upstream: Pick<Upstream, "call">,
  namespace: string,
  { workflowId, runId, activityId }: Waiting,
): Promise<string | undefined> {
  const { DescribeWorkflowExecutionRequest: Request, DescribeWorkflowExecutionResponse: Response } = messages;
  const request = Request.encode({ namespace, execution: { workflowId, runId } }).finish();
  const path = workflowMethod("DescribeWorkflowExecution");
  const answer = await upstream.call({ path, request, deadline: Date.now() + DEADLINE }).catch(ifNone);
  if (answer === undefined) return undefined;
  const described = Response.decode(partOf(typeOf(Response), answer, WANTED));
  const found = described.pendingActivities?.find((activity) => activity.activityId === activityId);
  return found?.activityOptions?.taskQueue?.name ?? undefined;
}

/** What an activity was started with and what its seed has reported may be large. */
const WANTED = { pendingActivities: { activityId: true, activityOptions: { taskQueue: { name: true } } } } as const;

/** In ms. */
const DEADLINE = 10_000;

function ifNone(error: unknown): undefined {
  if ((error as { code?: unknown }).code === status.NOT_FOUND) return undefined;
  throw error;
}

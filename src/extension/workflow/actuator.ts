import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from "@temporalio/client";
import type { Cluster, KubeObject } from "../../api/index.ts";
import { inWords, refOf } from "../../kube/index.ts";
import type { Actuator, ActuatorContext, ActuatorResult } from "../actuator.ts";
import { OperationRefused } from "../errors.ts";
import type { ExtensionObject } from "../extension-object.ts";
import { extensionErrorOf } from "./failure.ts";
import { requestOf, revisionOf, workflowIdOf, type WorkflowCall, type WorkflowRequest } from "./request.ts";

/** Which workflow does the work, and where. */
export interface WorkflowActuatorOptions {
  readonly client: Client;
  /** Where workers poll for it. */
  readonly taskQueue: string;
  /** The workflow: its name, or its function. It decides by `call` what to do, and returns what an actuator returns. */
  readonly workflow: string | ((request: WorkflowRequest) => Promise<ActuatorResult | void>);
}

/**
 * An actuator whose every call is a run of a Temporal workflow. A controller that was killed in the middle finds the run,
 * waits for it if it is not over, and reports its result. A run for another request, such as an older generation, is cancelled first, and has ended when the next
 * begins: an object never has two.
 *
 * When the controller stops, or another replica leads, the wait ends and the run goes on. When its guard refuses to go on,
 * because another seed leads, the run is cancelled, as far as Temporal can be reached; its activities have to ask for
 * themselves who leads.
 */
export function createWorkflowActuator<T extends KubeObject, C extends Cluster | undefined = Cluster>(
  options: WorkflowActuatorOptions,
): Required<Actuator<T, C>> {
  const run = (call: WorkflowCall) => (object: T, _cluster: C, context: ActuatorContext) =>
    // The framework hands out objects of extension kinds only.
    runWorkflow(options, object as unknown as ExtensionObject, call, context);
  const runToEnd = (call: WorkflowCall) => async (object: T, cluster: C, context: ActuatorContext) => {
    await run(call)(object, cluster, context);
  };
  return {
    reconcile: run("reconcile"),
    restore: run("restore"),
    delete: runToEnd("delete"),
    forceDelete: runToEnd("forceDelete"),
    migrate: runToEnd("migrate"),
  };
}

async function runWorkflow(
  { client, taskQueue, workflow }: WorkflowActuatorOptions,
  object: ExtensionObject,
  call: WorkflowCall,
  { signal, check, log, operation, resumed }: ActuatorContext,
): Promise<ActuatorResult | undefined> {
  const request = requestOf(object, call, operation);
  const revision = revisionOf(request, object);
  const workflowId = workflowIdOf(request);

  /** Finds the run of this request, or begins one; a run of another request ends first. */
  const begin = async (): Promise<WorkflowHandle> => {
    for (;;) {
      const last = await findLast(client, workflowId);
      const handle = client.workflow.getHandle(workflowId, last?.runId);
      const fate = fateOf(last, revision, resumed);
      if (fate !== "over") log.info({ workflowId, runId: last?.runId, fate }, "run found");
      if (fate === "ours") return handle;
      if (fate === "another's") await cancelAndWait(handle);
      check();
      try {
        const staticSummary = `${operation} ${inWords(refOf(object))}`;
        const options = {
          workflowId,
          taskQueue,
          args: [request] as [WorkflowRequest],
          memo: { revision },
          staticSummary,
        };
        return await client.workflow.start(workflow, options);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    }
  };

  try {
    const wait = async () => (await (await begin()).result()) as ActuatorResult | null | undefined;
    return (await client.withAbortSignal(signal, wait)) ?? undefined;
  } catch (error) {
    if (!signal.aborted) throw extensionErrorOf(error);
    if (signal.reason instanceof OperationRefused)
      await client.workflow.getHandle(workflowId).cancel().catch(unless(WorkflowNotFoundError));
    throw signal.reason;
  }
}

/** Whose the last run is: of this request, of another one that has to end, or of no concern. */
function fateOf(last: LastRun | undefined, revision: string, resumed: boolean): "ours" | "another's" | "over" {
  const state = last?.status.name;
  const ours = last?.memo?.["revision"] === revision;
  if (state === "RUNNING") return ours ? "ours" : "another's";
  return state === "COMPLETED" && ours && resumed ? "ours" : "over";
}

type LastRun = Pick<WorkflowExecutionDescription, "status" | "memo">;

async function findLast(client: Client, workflowId: string) {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** How it ends is of no account: what it was asked is asked no more. */
async function cancelAndWait(handle: WorkflowHandle): Promise<void> {
  await handle.cancel().catch(unless(WorkflowNotFoundError));
  await handle.result().catch(unless(WorkflowFailedError));
}

const unless =
  (expected: new (...args: never) => Error) =>
  (error: unknown): void => {
    if (!(error instanceof expected)) throw error;
  };

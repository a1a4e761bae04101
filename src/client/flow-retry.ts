import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from "@temporalio/client";
import { retryUpdate } from "../workflows/contract.ts";

/**
 * Asks the steps that wait in these workflows, or only those of this name, to go on; answers which. Throws why none does;
 * undefined when none of the workflows is running.
 */
export async function retrySteps(
  client: Client,
  workflowIds: readonly string[],
  step?: string,
): Promise<readonly string[] | undefined> {
  const request = step === undefined ? {} : { step };
  const retried: string[] = [];
  const refusals: Error[] = [];
  for (const workflowId of workflowIds) {
    try {
      retried.push(...(await client.workflow.getHandle(workflowId).executeUpdate(retryUpdate, { args: [request] })));
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError)
        refusals.push(new Error(error.cause?.message ?? error.message, { cause: error }));
      else if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  if (retried.length > 0) return retried;
  if (refusals[0] !== undefined) throw refusals[0];
  return undefined;
}

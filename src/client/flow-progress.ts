import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import type { FlowProgress } from "../api/shoot/run.ts";
import { progressQuery } from "../workflows/contract.ts";

/** Where the flow of a workflow is; undefined when there is no such workflow. Throws when no worker answers for it. */
export async function askProgress(client: Client, workflowId: string): Promise<FlowProgress | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).query(progressQuery);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw new Error(`cannot ask ${workflowId} where it is`, { cause: error });
  }
}

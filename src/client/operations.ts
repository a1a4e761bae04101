import { WorkflowFailedError, WorkflowNotFoundError, type Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { ShootRef, ShootRun } from "../api/shoot/run.ts";
import { decodePayloads } from "./payloads/converter.ts";
import { flowKinds, flowWorkflowId } from "../workflows/contract.ts";

/** The workflows of operations, as a Shoot's own workflow sees them that may have lost sight of one. */
export interface Operations {
  /** What the Shoot's running operation was started with, by its own history; undefined when none is running. */
  running(ref: ShootRef): Promise<ShootRun | undefined>;
  /** Resolves when the workflow of this id has ended, however it ended; throws what kept it from knowing. */
  ended(workflowId: string): Promise<void>;
  /** Terminates a workflow; one that has ended already is fine. */
  end(workflowId: string, reason: string): Promise<void>;
}

/** The operations behind this connection. */
export function createOperations(client: Client): Operations {
  return {
    running: (ref) => findRunning(client, ref),
    ended: (workflowId) => client.workflow.getHandle(workflowId).result().then(ignore, ignoreItsEnd),
    async end(workflowId, reason) {
      await client.workflow.getHandle(workflowId).terminate(reason).catch(notFound);
    },
  };
}

async function findRunning(client: Client, ref: ShootRef): Promise<ShootRun | undefined> {
  for (const kind of flowKinds) {
    const workflowId = flowWorkflowId(ref, kind);
    const found = await client.workflow.getHandle(workflowId).describe().catch(notFound);
    if (found?.status.name === "RUNNING") return await readInput(client, workflowId, found.runId);
  }
  return undefined;
}

async function readInput(client: Client, workflowId: string, runId: string): Promise<ShootRun> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [input] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (!input) throw new Error(`the history of ${workflowId} does not say what it was started with`);
  const [decoded = input] = await decodePayloads([input], client.options.loadedDataConverter);
  return defaultPayloadConverter.fromPayload<ShootRun>(decoded);
}

function notFound(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError) return undefined;
  throw error;
}

function ignore(): void {}

function ignoreItsEnd(error: unknown): void {
  if (!(error instanceof WorkflowFailedError)) notFound(error);
}

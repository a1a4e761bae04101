import { randomUUID } from "node:crypto";
import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { commandLines } from "../api/command-lines.ts";
import { retrySignal, workflowTypes } from "../workflows/contract.ts";
import { readable } from "./history.ts";
import { findResetPoint, ResetRefused, type ResetPoint } from "./reset-point.ts";

/** A reset that is possible, with what it would do; `carryOut` does it and answers with the id of the new run. */
export interface FlowReset extends ResetPoint {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  carryOut(reason: string): Promise<string>;
}

/**
 * Finds out what setting an operation's run back to a step would do. Throws `ResetRefused` where it would cross a point
 * of no return, or separate a parent from its child: only a running operation of a running Shoot can be set back.
 * `carryOut` looks again, and throws the same.
 */
export async function prepareReset(client: Client, workflowId: string, step: string): Promise<FlowReset> {
  const { type, runId, point } = await findPoint(client, workflowId, step);
  return {
    ...point,
    workflowId,
    runId,
    type,
    async carryOut(reason) {
      // The run has gone on while the user read what to confirm.
      const { runId, eventId } = await findPoint(client, workflowId, step);
      const answer = await client.workflowService.resetWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId, runId },
        workflowTaskFinishEventId: eventId,
        requestId: randomUUID(),
        reason,
        // Retries that were asked for since belong to steps which now begin anew; a wish to stop still holds.
        resetReapplyExcludeTypes: [excludeSignals, excludeUpdates],
      });
      // What was parked had made the Shoot `Failed`; the signal has the run say otherwise, to extensions as well.
      await client.workflow.getHandle(workflowId).signal(retrySignal);
      return answer.runId;
    },
  };
}

async function findPoint(client: Client, workflowId: string, step: string) {
  const { type, runId } = await describeRunning(client, workflowId);
  await parentHears(client, workflowId);
  const fetched = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const point = findResetPoint(await readable(client, fetched), step, shootOf(workflowId));
  const event = fetched.events?.find(({ eventId }) => Number(eventId) === point.task);
  if (!event?.eventId) throw new Error(`the history of ${workflowId} has no event ${point.task}`);
  return { type, runId, point, eventId: event.eventId };
}

/** temporal.api.enums.v1.ResetReapplyExcludeType */
const [excludeSignals, excludeUpdates] = [1, 2] as const;

async function describeRunning(client: Client, workflowId: string): Promise<{ type: string; runId: string }> {
  const { type, runId, status } = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((cause: unknown) => {
      if (!(cause instanceof WorkflowNotFoundError)) throw cause;
      throw new ResetRefused(`there is no workflow ${workflowId}: see ${commandLines.listFlows()}`, { cause });
    });
  if (type === workflowTypes.shoot)
    throw new ResetRefused(
      `${workflowId} runs the Shoot's operations, and a reset would orphan the one that is running: name the operation's own workflow, see ${commandLines.listFlows()}`,
    );
  if (status.name !== "RUNNING")
    throw new ResetRefused(`${workflowId} has ended (${status.name}): ${afterTheEnd(type, shootOf(workflowId))}`);
  return { type, runId };
}

/** A Shoot's workflow knows how its operation ended; it does not wait for a second end. */
function afterTheEnd(type: string, shoot: string): string {
  if (type === workflowTypes.migrate)
    return "a migration ends with its flip, and across that there is only forward; look at the Restore that follows";
  return `no workflow waits for a second end; begin a new operation with: ${commandLines.reconcileShoot(shoot)}`;
}

async function parentHears(client: Client, workflowId: string): Promise<void> {
  const parent = workflowId.split("/").slice(0, 4).join("/");
  const found = await client.workflow.getHandle(parent).describe().catch(notFound);
  if (found?.status.name === "RUNNING") return;
  throw new ResetRefused(
    `${parent} is not running, so that the end of the operation would be lost: try again after '${commandLines.reconcileShoot(shootOf(workflowId))}'`,
  );
}

/** The Shoot, as `namespace/name`, whose operation has this id. */
function shootOf(workflowId: string): string {
  return workflowId.split("/").slice(1, 3).join("/");
}

function notFound(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError) return undefined;
  throw error;
}

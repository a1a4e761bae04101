import type { Client } from "@temporalio/client";
import type { WorkflowIdConflictPolicy } from "@temporalio/common";
import { omitUndefined } from "../omit-undefined.ts";
import type { FlowProgress, ShootRef, ShootRun } from "../api/shoot/run.ts";
import { flowKinds, flowWorkflowId, searchAttributes, shootWorkflowId, workflowTypes } from "../workflows/contract.ts";
import { prepareReset, type FlowReset } from "./flow-reset.ts";
import { askProgress } from "./flow-progress.ts";
import { retrySteps } from "./flow-retry.ts";
import { fetchHistory, type History } from "./history.ts";
import { buildOf } from "./builds.ts";
import { nudge } from "./nudge.ts";
import { createOperations } from "./operations.ts";

/** An operation's workflow, as a list shows it. */
export interface FlowSummary {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  readonly startedAt: Date;
  readonly closedAt?: Date;
  readonly shoot?: string;
  readonly seedName?: string;
  readonly operation?: string;
  readonly phase?: string;
  readonly errorCode?: string;
  /** The build of the garden's worker that it is pinned to. */
  readonly build?: string;
}

/** Talks to the workflows of Shoots. */
export interface ShootClient {
  /** Says that something about the Shoot changed; starts its workflow when there is none. */
  nudge(ref: ShootRef): Promise<void>;
  /** Those of the Shoots without a workflow that runs, by one list of all that do; the list may be seconds old. */
  withoutWorkflow(refs: readonly ShootRef[]): Promise<readonly ShootRef[]>;
  /** Where the running or last operation is; undefined when there was none, or no worker answers for it. */
  progress(ref: ShootRef): Promise<FlowProgress | undefined>;
  /** What the running operation was started with; undefined when none is running. */
  running(ref: ShootRef): Promise<ShootRun | undefined>;
  /** Asks waiting steps to go on, those of clean-ups too; answers which. Throws what stands against it. */
  retry(ref: ShootRef, step?: string): Promise<readonly string[]>;
  /** Operations, newest first; of one Shoot when `namespace/name` is given. */
  flows(shoot?: string): Promise<FlowSummary[]>;
  /** The progress of a workflow by its id. */
  progressOf(workflowId: string): Promise<FlowProgress | undefined>;
  /** What setting an operation back to a step would do, ready to be done. Throws `ResetRefused`. */
  prepareReset(workflowId: string, step: string): Promise<FlowReset>;
  /** The history of a workflow's latest run; undefined when there is no such workflow. */
  history(workflowId: string): Promise<History | undefined>;
}

/** The Shoots' workflows behind this connection. */
export function createShootClient(client: Client): ShootClient {
  const progressOf = (workflowId: string) => askProgress(client, workflowId);

  const list = async (query: string) => {
    const found: FlowSummary[] = [];
    for await (const execution of client.workflow.list({ query })) found.push(summaryOf(execution));
    return found;
  };

  return {
    nudge: (ref) => startShoot(client, ref, "USE_EXISTING"),
    async withoutWorkflow(refs) {
      const query = `WorkflowType = "${workflowTypes.shoot}" AND ExecutionStatus = "Running"`;
      const ids = new Set<string>();
      for await (const { workflowId } of client.workflow.list({ query, pageSize: 1_000 })) ids.add(workflowId);
      return refs.filter((ref) => !ids.has(shootWorkflowId(ref)));
    },
    progressOf,
    running: createOperations(client).running,
    prepareReset: (workflowId, step) => prepareReset(client, workflowId, step),
    history: (workflowId) => fetchHistory(client, workflowId),
    async progress(ref) {
      const found = await Promise.all(flowKinds.map((kind) => progressOf(flowWorkflowId(ref, kind))));
      return found.filter((one) => one !== undefined).sort((a, b) => b.startedAt.localeCompare(a.startedAt))[0];
    },
    async retry(ref, step) {
      const shoot = `${ref.namespace}/${ref.name}`;
      const cleanUps = await list(`WorkflowType = "${workflowTypes.cleanUp}" AND ShootName = "${shoot}"`);
      const ids = [
        ...flowKinds.map((kind) => flowWorkflowId(ref, kind)),
        ...cleanUps.map(({ workflowId }) => workflowId),
      ];
      const retried = await retrySteps(client, [...new Set(ids)], step);
      if (retried === undefined) throw new Error(`no operation of Shoot ${shoot} is running`);
      return retried;
    },
    async flows(shoot) {
      const { shoot: _, bastion: __, ...types } = workflowTypes;
      const names = Object.values(types).map((type) => `"${type}"`);
      const operations = `WorkflowType IN (${names.join(", ")})`;
      return await list(shoot === undefined ? operations : `${operations} AND ShootName = "${shoot}"`);
    },
  };
}

/** Says that something about the Shoot changed to its workflow: to the one that runs, or to a new one. */
export async function startShoot(
  client: Client,
  ref: ShootRef,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy,
): Promise<void> {
  const name = `${ref.namespace}/${ref.name}`;
  const typedSearchAttributes = [{ key: searchAttributes.shoot, value: name }];
  await nudge(client, {
    type: workflowTypes.shoot,
    workflowId: shootWorkflowId(ref),
    ref,
    summary: `Shoot ${name}`,
    more: { workflowIdConflictPolicy, typedSearchAttributes },
  });
}

type Execution = ReturnType<Client["workflow"]["list"]> extends AsyncIterable<infer One> ? One : never;

function summaryOf(execution: Execution): FlowSummary {
  const attributes = execution.typedSearchAttributes;
  const known = omitUndefined({
    closedAt: execution.closeTime,
    shoot: attributes.get(searchAttributes.shoot),
    seedName: attributes.get(searchAttributes.seed),
    operation: attributes.get(searchAttributes.operation),
    phase: attributes.get(searchAttributes.phase),
    errorCode: attributes.get(searchAttributes.errorCode),
    build: buildOf(execution),
  });
  return {
    workflowId: execution.workflowId,
    runId: execution.runId,
    type: execution.type,
    status: execution.status.name,
    startedAt: execution.startTime,
    ...known,
  };
}

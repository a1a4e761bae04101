import type { Client } from "@temporalio/client";
import type { BastionRef } from "../api/shoot/bastion-run.ts";
import { bastionWorkflowId, changedSignal, gardenQueue, workflowTypes } from "../workflows/contract.ts";

/** Talks to the workflows of the garden's Bastions. */
export interface BastionClient {
  /** Says that something about the Bastion changed; starts its workflow when there is none. */
  nudge(ref: BastionRef): Promise<void>;
}

/** The workflows of Bastions behind this connection. */
export function createBastionClient(client: Client): BastionClient {
  return {
    async nudge(ref) {
      await client.workflow.signalWithStart(workflowTypes.bastion, {
        workflowId: bastionWorkflowId(ref),
        taskQueue: gardenQueue,
        args: [ref],
        signal: changedSignal,
        signalArgs: [],
        staticSummary: `Bastion ${ref.namespace}/${ref.name}`,
      });
    },
  };
}

import type { Client } from "@temporalio/client";
import type { BastionRef } from "../api/shoot/bastion-run.ts";
import { bastionWorkflowId, workflowTypes } from "../workflows/contract.ts";
import { nudge } from "./nudge.ts";

/** Talks to the workflows of the garden's Bastions. */
export interface BastionClient {
  /** Says that something about the Bastion changed; starts its workflow when there is none. */
  nudge(ref: BastionRef): Promise<void>;
}

/** The workflows of Bastions behind this connection. */
export function createBastionClient(client: Client): BastionClient {
  return {
    nudge: (ref) =>
      nudge(client, {
        type: workflowTypes.bastion,
        workflowId: bastionWorkflowId(ref),
        ref,
        summary: `Bastion ${ref.namespace}/${ref.name}`,
      }),
  };
}

import type { Client } from "@temporalio/client";
import type { InstallationRef } from "../api/registration/run.ts";
import type { FlowProgress } from "../api/shoot/run.ts";
import { installationWorkflowId, workflowTypes } from "../workflows/contract.ts";
import { askProgress } from "./flow-progress.ts";
import { retrySteps } from "./flow-retry.ts";
import { nudge } from "./nudge.ts";

/** Talks to the workflows of ControllerInstallations. */
export interface InstallationClient {
  /** Says that something about the installation changed; starts its workflow when there is none. */
  nudge(ref: InstallationRef): Promise<void>;
  /** Where its running or last flow is; undefined when there was none. Throws when no worker answers for it. */
  progress(ref: InstallationRef): Promise<FlowProgress | undefined>;
  /** Asks waiting steps to go on; answers which. Throws what stands against it. */
  retry(ref: InstallationRef, step?: string): Promise<readonly string[]>;
}

/** The workflows of installations behind this connection. */
export function createInstallationClient(client: Client): InstallationClient {
  return {
    nudge: (ref) =>
      nudge(client, {
        type: workflowTypes.installation,
        workflowId: installationWorkflowId(ref),
        ref,
        summary: `Extension ${ref.name}`,
      }),
    progress: (ref) => askProgress(client, installationWorkflowId(ref)),
    async retry(ref, step) {
      const retried = await retrySteps(client, [installationWorkflowId(ref)], step);
      if (retried === undefined) throw new Error(`no flow of ControllerInstallation ${ref.name} is running`);
      return retried;
    },
  };
}

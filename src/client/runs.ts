import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { shootOfWorkflowId, workflowTypes } from "../workflows/contract.ts";
import { buildOf, buildQuery, deploymentName } from "./builds.ts";
import { readable, type History } from "./history.ts";
import { startShoot } from "./shoots.ts";

/** A running workflow and the build that it is pinned to. */
export interface PinnedRun {
  readonly workflowId: string;
  readonly runId: string;
  /** A Shoot's own workflow, rather than an operation's. */
  readonly isShoot: boolean;
  readonly build: string;
  readonly startedAt: Date;
}

/** The running workflows of the garden's worker, by build. */
export interface Runs {
  /** Those pinned to another build than this one, as far as Temporal's list has heard of them: within seconds. */
  pinnedElsewhere(build: string): AsyncIterable<PinnedRun>;
  history(run: PinnedRun): Promise<History>;
  /** Pins a run to a build; without one, back to the build that its own tasks say. */
  pin(run: PinnedRun, build: string | undefined): Promise<void>;
  /**
   * Ends the Shoot's workflow and begins it anew under the current build: it remembers nothing but the Shoot, and takes up
   * the operation that is running. Where that is to be at rest, nothing is done while one of its activities runs.
   */
  beginAnew(run: PinnedRun, only: "at rest" | "at once"): Promise<void>;
}

/** The running workflows behind this connection. */
export function createRuns(client: Client): Runs {
  const { namespace } = client.options;
  return {
    async *pinnedElsewhere(build) {
      const query = `ExecutionStatus = "Running" AND TemporalWorkerDeployment = "${deploymentName}" AND ${buildQuery("!=", build)}`;
      for await (const found of client.workflow.list({ query })) {
        const { workflowId, runId, type, startTime: startedAt } = found;
        yield { workflowId, runId, isShoot: type === workflowTypes.shoot, build: buildOf(found) ?? "", startedAt };
      }
    },
    async history({ workflowId, runId }) {
      return await readable(client, await client.workflow.getHandle(workflowId, runId).fetchHistory());
    },
    async pin({ workflowId, runId }, buildId) {
      await client.workflowService.updateWorkflowExecutionOptions({
        namespace,
        workflowExecution: { workflowId, runId },
        workflowExecutionOptions: buildId === undefined ? {} : { versioningOverride: pinnedTo(buildId) },
        updateMask: { paths: ["versioning_override"] },
      });
    },
    async beginAnew({ workflowId, runId, build }, only) {
      const found = await client.workflow.getHandle(workflowId, runId).describe().catch(ifGone);
      const ref = shootOfWorkflowId(workflowId);
      if (found?.status.name !== "RUNNING" || buildOf(found) !== build || ref === undefined) return;
      if (only === "at once" || isAtRest(found)) await startShoot(client, ref, "TERMINATE_EXISTING");
    },
  };
}

type Description = Awaited<ReturnType<ReturnType<Client["workflow"]["getHandle"]>["describe"]>>;

/** What it has begun to do is done; following an operation can be begun anew at any time. */
function isAtRest({ raw }: Description): boolean {
  const acting = (raw.pendingActivities ?? []).filter(({ activityType }) => activityType?.name !== "followFlow");
  return acting.length === 0 && !raw.pendingWorkflowTask;
}

const pinnedTo = (buildId: string) => ({ pinned: { behavior: pinned, version: { deploymentName, buildId } } });

/** temporal.api.workflow.v1.VersioningOverride.PinnedOverrideBehavior */
const pinned = 1;

function ifGone(error: unknown): undefined {
  if (error instanceof WorkflowNotFoundError) return undefined;
  throw error;
}

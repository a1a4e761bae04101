import { ServiceError, type Client, type WorkflowExecutionInfo } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { gardenQueue } from "../workflows/contract.ts";

/** The Worker Deployment whose versions are the builds of the garden's worker. */
export const deploymentName = "perennial-garden";

/** What Temporal knows of the builds. */
export interface Deployment {
  /** The id of the build that new workflows begin under; none before the first roll-out. */
  readonly current: string | undefined;
  /** Who made it current, as they called themselves. */
  readonly madeCurrentBy: string;
  readonly builds: readonly Build[];
  /** Stands for this state: a change that names it is refused once another has come first. */
  readonly conflictToken: Uint8Array;
}

/** One build; times are ms since the epoch. */
export interface Build {
  readonly id: string;
  /** When a worker of the build polled first. */
  readonly createdAt: number;
  readonly wasCurrent: boolean;
}

/** The builds of the garden's worker, and which of them is current. */
export interface Builds {
  /** Undefined for as long as no worker of any build has polled. */
  read(): Promise<Deployment | undefined>;
  /** When the workers of each build last polled, by the server's clock, in ms. The server forgets a build that does not. */
  readPolls(): Promise<ReadonlyMap<string, number>>;
  /** False when the build does not poll all queues of the current one yet, or when `seen` is not true any more. */
  makeCurrent(build: string, seen: Deployment, as: string): Promise<boolean>;
}

/** The builds of the garden's worker behind this connection. */
export function createBuilds(client: Client): Builds {
  const { workflowService: service } = client;
  const { namespace } = client.options;
  return {
    async read() {
      const answer = await service.describeWorkerDeployment({ namespace, deploymentName }).catch(ifNone);
      const info = answer?.workerDeploymentInfo;
      if (answer === undefined || !info) return undefined;
      return {
        current: info.routingConfig?.currentDeploymentVersion?.buildId || undefined,
        madeCurrentBy: info.lastModifierIdentity ?? "",
        conflictToken: answer.conflictToken,
        builds: (info.versionSummaries ?? []).map((one) => ({
          id: one.deploymentVersion?.buildId ?? "",
          createdAt: milliseconds(one.createTime),
          wasCurrent: Boolean(one.firstActivationTime),
        })),
      };
    },
    async readPolls() {
      const queue = { namespace, taskQueue: { name: gardenQueue }, taskQueueType: workflowTasks };
      const { pollers } = await service.describeTaskQueue(queue);
      const polls = new Map<string, number>();
      for (const { deploymentOptions, lastAccessTime } of pollers ?? []) {
        const build = deploymentOptions?.buildId ?? "";
        polls.set(build, Math.max(polls.get(build) ?? 0, milliseconds(lastAccessTime)));
      }
      return polls;
    },
    async makeCurrent(buildId, { conflictToken }, identity) {
      const change = { namespace, deploymentName, buildId, conflictToken, identity };
      return await service.setWorkerDeploymentCurrentVersion(change).then(() => true, ifNotYet);
    },
  };
}

/** The build that a workflow is pinned to, where Temporal has listed or described it. */
export function buildOf({ typedSearchAttributes }: Pick<WorkflowExecutionInfo, "typedSearchAttributes">) {
  return typedSearchAttributes.get(versionKey)?.slice(`${deploymentName}:`.length);
}

/** The part of a list's query that compares the build. */
export const buildQuery = (operator: "=" | "!=", build: string): string =>
  `${versionKey.name} ${operator} "${deploymentName}:${build}"`;

/** Temporal sets it by itself. */
const versionKey = defineSearchAttributeKey("TemporalWorkerDeploymentVersion", "KEYWORD");

/** temporal.api.enums.v1.TaskQueueType */
const workflowTasks = 1;

interface Timestamp {
  readonly seconds?: unknown;
  readonly nanos?: number | null;
}

function milliseconds(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

/** gRPC's status codes. */
const [notFound, failedPrecondition, aborted] = [5, 9, 10] as const;

function ifNone(error: unknown): undefined {
  if (codeOf(error) === notFound) return undefined;
  throw error;
}

function ifNotYet(error: unknown): false {
  const code = codeOf(error);
  if (code === notFound || code === failedPrecondition || code === aborted) return false;
  throw error;
}

function codeOf(error: unknown): unknown {
  const thrown = error instanceof ServiceError ? error.cause : error;
  return typeof thrown === "object" && thrown !== null && "code" in thrown ? thrown.code : undefined;
}

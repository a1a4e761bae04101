import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Node } from "../../kube/kinds.ts";
import type { Logger } from "../../log.ts";
import { isAgentAtWork } from "../cluster/agent-at-work.ts";
import { createBell } from "./bell.ts";
import { keepConditions } from "./conditions.ts";
import { keepLooking } from "./keep-looking.ts";

/** Whose conditions are kept, and by which node's agent. */
export interface ConditionWatchDeps {
  /** With an administrator's rights. */
  readonly client: KubeClient;
  readonly hostName: string;
  readonly log: Logger;
  /** In ms: once a minute unless told otherwise; where not all is well, six times as often. */
  readonly every?: number;
}

/**
 * Keeps the conditions of the cluster's Shoot true, until it is stopped. All agents of the control plane watch, and one looks: the first,
 * by name, whose heartbeat is fresh. For a moment two may look; what they write is the same, and of one version.
 */
export async function watchConditions(
  { client, hostName, log, every = 60_000 }: ConditionWatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const timing = { resync: every, recheck: every / 6, retry: every, longestPause: every };
  const look = async () => {
    const isWell = !(await isFirst(client, hostName)) || (await keepConditions(client, () => new Date()));
    return isWell ? "done" : "waiting";
  };
  await keepLooking({ look, news: createBell(), log, failed: "conditions not kept", timing }, signal);
}

async function isFirst(client: KubeClient, hostName: string): Promise<boolean> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const names = nodes.map(({ metadata }) => metadata.name).toSorted();
  for (const name of names) {
    if (name === hostName) return true;
    if (await isAgentAtWork(client, name)) return false;
  }
  return false;
}

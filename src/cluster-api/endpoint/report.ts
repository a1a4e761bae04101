import type { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { ENDPOINT_READY_CONDITION } from "../../api/names.ts";
import type { KubeClient } from "../../kube/index.ts";
import { applyConditions } from "../objects/bound-writes.ts";
import { changedConditions, findCondition, type Said } from "../objects/conditions.ts";
import { isPaused, pausedSaid } from "../objects/paused.ts";
import type { Decision } from "./decide.ts";
import { unasked, writtenServing, type Serving } from "./probe.ts";
import { readyCondition, surfacedCondition } from "./verdict.ts";
import type { EndpointWork } from "./work.ts";

/** A Cluster as it is by now, its endpoints, who of them wins, and what each was heard to say. */
export interface Situation {
  /** Undefined while there is none of that name. */
  readonly cluster: Cluster | undefined;
  readonly endpoints: readonly ClusterEndpoint[];
  readonly decision: Decision;
  servingOf(endpoint: ClusterEndpoint): Serving | undefined;
}

/**
 * Says of each endpoint whether it is surfaced and serves, and of the Cluster whether its endpoint does both. Where something is paused,
 * condition Paused is all that changes. Writes only what changes: one status for each object.
 */
export async function report({ client }: Pick<EndpointWork, "client">, o: Situation): Promise<void> {
  const { cluster, decision } = o;
  const isClusterPaused = cluster !== undefined && isPaused(cluster);
  let ready: Said | undefined;
  for (const endpoint of o.endpoints) {
    if (endpoint.metadata.deletionTimestamp !== undefined) continue;
    if (isClusterPaused || isPaused(endpoint)) {
      await sayPaused(client, endpoint);
      continue;
    }
    const readiness = await sayAll(client, endpoint, o);
    if (endpoint.metadata.name === decision.winner?.metadata.name) ready = readiness;
  }
  if (cluster !== undefined && !isClusterPaused) await tellCluster(client, cluster, decision, ready);
}

async function sayPaused(client: KubeClient, endpoint: ClusterEndpoint): Promise<void> {
  const present = endpoint.status?.conditions;
  const said = changedConditions(present, [pausedSaid(true)], endpoint.metadata);
  const others = (present ?? []).filter(({ type }) => frozen.includes(type));
  if (said) await applyConditions(client, endpoint, [...others, ...said]);
}

/** Returns whether the endpoint is ready. */
async function sayAll(client: KubeClient, endpoint: ClusterEndpoint, o: Situation): Promise<Said> {
  const surfaced = surfacedCondition(endpoint, o.cluster, o.decision);
  const serving = o.servingOf(endpoint) ?? writtenServing(endpoint) ?? unasked;
  const ready = readyCondition(surfaced, serving);
  const wanted = [surfaced, serving, ready, pausedSaid(false)];
  const said = changedConditions(endpoint.status?.conditions, wanted, endpoint.metadata);
  const isToBeTold = endpoint.status?.conditions !== undefined || serving !== unasked; // first words wait for the first answer
  if (said && isToBeTold) await applyConditions(client, endpoint, said);
  return ready;
}

/** What stays as it was while something is paused. */
const frozen: readonly string[] = ["Surfaced", "Serving", "Ready"];

/** A Cluster that never had an endpoint is told nothing, and of an endpoint that was not asked yet, none is. */
async function tellCluster(
  client: KubeClient,
  cluster: Cluster,
  { winner }: Decision,
  ready: Said | undefined,
): Promise<void> {
  const present = cluster.status?.conditions;
  const told = findCondition(present, ENDPOINT_READY_CONDITION);
  if (ready?.reason === unasked.reason) return; // the answer is on its way
  const lost = told && winner === undefined ? lostCondition : undefined;
  const said = ready ?? lost;
  if (said === undefined) return;
  const changed = changedConditions(present, [{ ...said, type: ENDPOINT_READY_CONDITION }]);
  if (changed) await applyConditions(client, cluster, changed);
}

const lostCondition = { status: "False", reason: "NoEndpoint", message: "there is no ClusterEndpoint" } as const;

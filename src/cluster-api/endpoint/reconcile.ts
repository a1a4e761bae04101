import type { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { isLeftToMove, isPaused } from "../objects/paused.ts";
import { keepWhatStays } from "../objects/stay.ts";
import { adopt } from "./adopt.ts";
import { decide, type Decision } from "./decide.ts";
import { migrate } from "./generate.ts";
import type { Serving } from "./probe.ts";
import { report } from "./report.ts";
import { follow, surface } from "./surface.ts";
import type { EndpointWork } from "./work.ts";

/** What is known of one Cluster: it may be behind what the API server has. */
export interface Seen {
  /** Undefined while there is none of that name. */
  readonly cluster: Cluster | undefined;
  /** All that name it. */
  readonly endpoints: readonly ClusterEndpoint[];
  servingOf(endpoint: ClusterEndpoint): Serving | undefined;
  /** Whether a Cluster that has an endpoint and no object gets one. */
  readonly generates: boolean;
}

/**
 * One pass for one Cluster: makes the winner's value its endpoint, and says of each object whether it is that, and whether it
 * serves. What has changed meanwhile is left to the pass that its watch event brings.
 */
export async function reconcileCluster(work: EndpointWork, seen: Seen): Promise<void> {
  const { cluster, servingOf } = seen;
  const endpoints = seen.endpoints.filter((one) => !isLeftToMove(one));
  if (cluster === undefined)
    return await report(work, { cluster, endpoints, decision: { losers: endpoints }, servingOf });
  await keepWhatStays(work.client, cluster, [cluster, ...seen.endpoints]); // the watch brings it again
  if (cluster.metadata.deletionTimestamp !== undefined || isLeftToMove(cluster)) return;
  const decision = decide(cluster.spec, endpoints);
  if (isPaused(cluster)) return await report(work, { cluster, endpoints, decision, servingOf });
  const isBare = decision.winner === undefined && endpoints.length === seen.endpoints.length;
  if (seen.generates && isBare && (await migrate(work, cluster))) return; // the watch brings it
  const current = await carryOut(work, cluster, decision);
  if (current === undefined) return;
  const adopted = await Promise.all(endpoints.map((endpoint) => adopt(work.client, endpoint, current)));
  const known = adopted.filter((endpoint) => endpoint !== undefined);
  await report(work, { cluster: current, endpoints: known, decision, servingOf });
}

/** The Cluster as it is then; undefined where a watch brings something newer first. */
async function carryOut(
  work: EndpointWork,
  cluster: Cluster,
  { winner, follow: value, surface: wanted }: Decision,
): Promise<Cluster | undefined> {
  if (winner === undefined || isPaused(winner)) return cluster;
  if (value !== undefined) return void (await follow(work, winner, value));
  return wanted === undefined ? cluster : await surface(work, cluster, winner);
}

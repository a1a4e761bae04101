import { surfaces, type Cluster, type ClusterEndpoint, type EndpointTypes } from "../../api/cluster-api/index.ts";
import { originOf } from "./generated.ts";
import { inOrder } from "./rank.ts";
import { asClusterEndpoint, completeEndpoint, isSameEndpoint, type Endpoint } from "./value.ts";

/** Which object is the Cluster's endpoint, and what follows from it; at most one of `surface` and `follow` is set. */
export interface Decision {
  readonly winner?: ClusterEndpoint;
  /** Those that surface if what is before them goes, in that order. */
  readonly losers: readonly ClusterEndpoint[];
  /** What the Cluster's field is to say, where it says something else. */
  readonly surface?: Endpoint;
  /** What a generated winner is to say, because its Cluster has changed. */
  readonly follow?: Endpoint;
}

/** What of a Cluster is decided by. */
export type DecidedBy = Pick<Cluster["spec"], "controlPlaneEndpoint" | "infrastructureRef" | "controlPlaneRef">;

/**
 * Who wins. A generated object follows its Cluster, and is never surfaced over a complete value; any other winner's value goes
 * onto the Cluster. Nothing ever empties the field. Pure, and independent of the order of the objects.
 */
export function decide(cluster: DecidedBy, endpoints: readonly ClusterEndpoint[], types?: EndpointTypes): Decision {
  const candidates = endpoints.filter((one) => isCandidate(one, types));
  const [winner, ...losers] = inOrder(candidates, cluster);
  if (winner === undefined) return { losers };
  const { host, port } = winner.spec;
  const wanted = { host, port };
  const present = completeEndpoint(cluster.controlPlaneEndpoint);
  if (isSameEndpoint(present, wanted)) return { winner, losers };
  if (present === undefined || originOf(winner) === undefined) return { winner, losers, surface: wanted };
  const follow = asClusterEndpoint(present);
  return { winner, losers, ...(follow && { follow }) };
}

/** Whether an object may be its Cluster's endpoint: its type surfaces, and it stays. */
export function isCandidate({ metadata, spec }: ClusterEndpoint, types?: EndpointTypes): boolean {
  return metadata.deletionTimestamp === undefined && surfaces(spec.type, types);
}

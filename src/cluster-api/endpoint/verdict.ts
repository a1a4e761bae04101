import { surfaces, type Cluster, type ClusterEndpoint, type EndpointTypes } from "../../api/cluster-api/index.ts";
import type { Said } from "../objects/conditions.ts";
import type { Decision } from "./decide.ts";
import { whyBefore } from "./rank.ts";

/** Whether an endpoint is on its Cluster, and why not. */
export function surfacedCondition(
  endpoint: ClusterEndpoint,
  cluster: Pick<Cluster, "metadata" | "spec"> | undefined,
  { winner, types }: Pick<Decision, "winner"> & { readonly types?: EndpointTypes },
): Said {
  const type = "Surfaced";
  if (cluster === undefined) {
    const message = `there is no Cluster ${endpoint.spec.cluster} in this namespace`;
    return { type, status: "False", reason: "WaitingForCluster", message };
  }
  if (!surfaces(endpoint.spec.type, types)) {
    const message = `an endpoint of type ${endpoint.spec.type} is not its Cluster's endpoint: it says where something else answers`;
    return { type, status: "False", reason: "NoSurface", message };
  }
  if (winner === undefined || winner.metadata.name === endpoint.metadata.name)
    return { type, status: "True", reason: "Surfaced", message: `Cluster ${cluster.metadata.name} has this endpoint` };
  const why = whyBefore(winner, endpoint, cluster.spec);
  const message = `ClusterEndpoint ${winner.metadata.name} wins: ${why}`;
  return { type, status: "False", reason: "Overruled", message };
}

/** Whether an endpoint is on its Cluster and serves: the first of the two that is not so. */
export function readyCondition(surfaced: Said, serving: Said): Said {
  const { status, reason, message } = surfaced.status === "True" ? serving : surfaced;
  return { type: "Ready", status, reason, message };
}

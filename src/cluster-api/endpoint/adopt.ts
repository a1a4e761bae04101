import { CLUSTER_NAME_LABEL, type Cluster, type ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { GENERATED_LABEL, GENERATED_VALUE_LABEL } from "../../api/labels.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { ownerReference } from "../objects/owner-reference.ts";
import { isPaused } from "../objects/paused.ts";
import { isTakenOver } from "./generated.ts";

/**
 * Makes an endpoint belong to its Cluster: with the label by which it is found, an owner, without which `clusterctl move` leaves it
 * behind, and without the label of a generated one after a user edited it. At most one write; returns the endpoint as it is then, or undefined
 * where it has changed meanwhile.
 */
export async function adopt(
  client: KubeClient,
  endpoint: ClusterEndpoint,
  cluster: Cluster,
): Promise<ClusterEndpoint | undefined> {
  const { labels = {}, ownerReferences = [], deletionTimestamp } = endpoint.metadata;
  if (deletionTimestamp !== undefined || isPaused(endpoint)) return endpoint;
  const isLabelled = CLUSTER_NAME_LABEL in labels;
  const taken = isTakenOver(endpoint) ? { [GENERATED_LABEL]: null, [GENERATED_VALUE_LABEL]: null } : {};
  const changed = { ...taken, ...(isLabelled ? {} : { [CLUSTER_NAME_LABEL]: cluster.metadata.name }) };
  const metadata = {
    ...(Object.keys(changed).length > 0 && { labels: changed }),
    ...(ownerReferences.length === 0 && { ownerReferences: [ownerReference(cluster)] }),
  };
  if (Object.keys(metadata).length === 0) return endpoint;
  if (metadata.ownerReferences !== undefined && !(await isThere(client, cluster))) return undefined;
  return await patchSeen(client, endpoint, { metadata });
}

/** An owner that has gone would be a reason to delete the endpoint, which may be meant for the next Cluster of that name. */
async function isThere(client: KubeClient, cluster: Cluster): Promise<boolean> {
  const { uid, deletionTimestamp } = (await client.read(refOf(cluster)))?.metadata ?? {};
  return uid === cluster.metadata.uid && deletionTimestamp === undefined;
}

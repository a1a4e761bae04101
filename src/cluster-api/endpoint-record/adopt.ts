import { apiGroupOf, CLUSTER_NAME_LABEL, type Cluster, type EndpointRecord } from "../../api/cluster-api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
import type { KubeClient } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { ownerReference } from "../objects/owner-reference.ts";

/**
 * Makes a record its Cluster's, with which it goes and moves, and keeps it until its name is out of the DNS. At most one write;
 * returns the record as it is then, or undefined where it has changed meanwhile.
 */
export async function adoptRecord(
  client: KubeClient,
  record: EndpointRecord,
  cluster: Cluster,
): Promise<EndpointRecord | undefined> {
  const { labels = {}, ownerReferences = [], finalizers = [] } = record.metadata;
  const name = cluster.metadata.name;
  const metadata = {
    ...(labels[CLUSTER_NAME_LABEL] !== name && { labels: { [CLUSTER_NAME_LABEL]: name } }),
    ...(ownerReferences.every((one) => one.kind !== cluster.kind || apiGroupOf(one) !== apiGroupOf(cluster)) && {
      ownerReferences: [...ownerReferences, ownerReference(cluster)],
    }),
    ...(!finalizers.includes(ENDPOINT_RECORD_FINALIZER) && { finalizers: [...finalizers, ENDPOINT_RECORD_FINALIZER] }),
  };
  return Object.keys(metadata).length === 0 ? record : await patchSeen(client, record, { metadata });
}

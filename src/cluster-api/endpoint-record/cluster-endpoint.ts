import { CLUSTER_NAME_LABEL, ClusterEndpoint, type EndpointRecord } from "../../api/cluster-api/index.ts";
import { refTo, typeMeta, type KubeClient } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { ENDPOINT_MANAGER } from "../objects/field-managers.ts";
import { ownerReference } from "../objects/owner-reference.ts";

/**
 * Has a ClusterEndpoint say where a record's name leads, owned by the record: an object of a third party. Says false where another's
 * object has its name.
 */
export async function ensureClusterEndpoint(client: KubeClient, record: EndpointRecord): Promise<boolean> {
  const { name, namespace, uid } = record.metadata;
  const { cluster, name: host, port } = record.spec;
  const existing = await client.read(refTo(ClusterEndpoint, { name, namespace }));
  if (existing === undefined) {
    const ownerReferences = [{ ...ownerReference(record), controller: true }];
    const metadata = { name, namespace, labels: { [CLUSTER_NAME_LABEL]: cluster }, ownerReferences };
    const spec = { cluster, host, port, type: "ExternalControlPlaneEndpoint" } as const;
    await client.create({ ...typeMeta(ClusterEndpoint), metadata, spec }, { fieldManager: ENDPOINT_MANAGER });
    return true;
  }
  if (!existing.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return false;
  const isSaid = existing.spec.host === host && existing.spec.port === port;
  if (!isSaid && existing.metadata.deletionTimestamp === undefined)
    await patchSeen(client, existing, { spec: { host, port } });
  return true;
}

import { CLUSTER_NAME_LABEL, ClusterEndpoint, type EndpointRecord } from "../../api/cluster-api/index.ts";
import { GENERATED_LABEL, GENERATED_VALUE_LABEL } from "../../api/labels.ts";
import { refTo, typeMeta, type KubeClient } from "../../kube/index.ts";
import { originOf } from "../endpoint/generated.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { ENDPOINT_MANAGER } from "../objects/field-managers.ts";
import { ownerReference } from "../objects/owner-reference.ts";

/**
 * Has a ClusterEndpoint say where a record's name leads, owned by the record: an object of a third party. Says false where another's
 * object has its name, unless that was generated for want of one.
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
  if (!existing.metadata.ownerReferences?.some((owner) => owner.uid === uid))
    return await takeGenerated(client, record, existing);
  const isSaid = existing.spec.host === host && existing.spec.port === port;
  if (!isSaid && existing.metadata.deletionTimestamp === undefined)
    await patchSeen(client, existing, { spec: { host, port } });
  return true;
}

/**
 * Makes an endpoint the record's that was generated under its name: for the same Cluster, while this had no object. So it is on the source
 * of a `clusterctl move` that was killed after the record was let go.
 */
async function takeGenerated(client: KubeClient, record: EndpointRecord, existing: ClusterEndpoint): Promise<boolean> {
  const { cluster, name: host, port } = record.spec;
  if (originOf(existing) === undefined || existing.spec.cluster !== cluster) return false;
  if (existing.metadata.deletionTimestamp !== undefined) return true; // the watch brings its end
  const ownerReferences = [{ ...ownerReference(record), controller: true }];
  const labels = { [GENERATED_LABEL]: null, [GENERATED_VALUE_LABEL]: null };
  await patchSeen(client, existing, { metadata: { ownerReferences, labels }, spec: { host, port } });
  return true;
}

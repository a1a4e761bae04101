import { isDeepStrictEqual } from "node:util";
import {
  CLUSTER_NAME_LABEL,
  ClusterEndpoint,
  ShootControlPlane,
  type Cluster,
  type ControlPlaneEndpoint,
} from "../../api/cluster-api/index.ts";
import { refOf, typeMeta, type KubeClient } from "../../kube/index.ts";
import { covers } from "../shoot/covers.ts";

/** The name of the endpoint that a Cluster's control plane brings. */
export const endpointName = ({ metadata }: Cluster): string => `${metadata.name}-control-plane`;

/**
 * Makes an endpoint known as the control plane's: as a ClusterEndpoint that it owns (seed 004), then in its own spec, which core
 * reads once the control plane is initialized. Nothing is written where both say so.
 */
export async function publishEndpoint(
  management: KubeClient,
  { cluster, controlPlane, present }: Publishing,
  endpoint: ControlPlaneEndpoint,
): Promise<void> {
  const wanted = endpointObject(cluster, controlPlane, endpoint);
  const { labels, ownerReferences } = wanted.metadata;
  if (!covers(present?.spec, wanted.spec) || !covers(present?.metadata, { labels, ownerReferences }))
    await management.apply(wanted);
  if (!isDeepStrictEqual({ ...controlPlane.spec.controlPlaneEndpoint }, endpoint))
    await management.patch(refOf(controlPlane), {
      metadata: { uid: controlPlane.metadata.uid },
      spec: { controlPlaneEndpoint: endpoint },
    });
}

/** Whose endpoint it is, and what is there of it. */
export interface Publishing {
  readonly cluster: Cluster;
  readonly controlPlane: ShootControlPlane;
  readonly present: ClusterEndpoint | undefined;
}

function endpointObject(
  cluster: Cluster,
  { metadata: { name: owner, uid = "" } }: ShootControlPlane,
  { host, port }: ControlPlaneEndpoint,
): ClusterEndpoint {
  const { name, namespace } = cluster.metadata;
  const ownerReference = { ...typeMeta(ShootControlPlane), name: owner, uid, controller: true };
  return {
    ...typeMeta(ClusterEndpoint),
    metadata: {
      name: endpointName(cluster),
      namespace,
      labels: { [CLUSTER_NAME_LABEL]: name },
      ownerReferences: [ownerReference],
    },
    spec: { cluster: name, host, port, type: "ExternalControlPlaneEndpoint" },
  };
}

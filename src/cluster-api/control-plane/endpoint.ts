import { isDeepStrictEqual } from "node:util";
import {
  CLUSTER_NAME_LABEL,
  ClusterEndpoint,
  ShootControlPlane,
  type Cluster,
  type ControlPlaneEndpoint,
} from "../../api/cluster-api/index.ts";
import { refOf, typeMeta, type KubeClient } from "../../kube/index.ts";
import { findCondition } from "../endpoint/conditions.ts";
import { covers } from "../shoot/covers.ts";
import { COMPOSER } from "../shoot/field-managers.ts";
import type { Obstacle } from "../shoot/obstacle.ts";

/** The name of the endpoint that a Cluster's control plane brings. */
export const endpointName = ({ metadata }: Cluster): string => `${metadata.name}-control-plane`;

/**
 * Makes an endpoint known as the control plane's: as a ClusterEndpoint that it owns (seed 004), then in its own spec, which core
 * reads once the control plane is initialized. Nothing is written where both say so. Another's object of that name stays as it is:
 * then the answer says so, and only the spec is written.
 */
export async function publishEndpoint(
  management: KubeClient,
  { cluster, controlPlane, present }: Publishing,
  endpoint: ControlPlaneEndpoint,
): Promise<Obstacle | undefined> {
  const wanted = endpointObject(cluster, controlPlane, endpoint);
  const taken = present !== undefined && !isOwnEndpoint(present, controlPlane);
  if (present === undefined) await management.create(wanted, { fieldManager: COMPOSER });
  else if (!taken) await follow(management, present, wanted);
  if (!isDeepStrictEqual({ ...controlPlane.spec.controlPlaneEndpoint }, endpoint))
    await management.patch(refOf(controlPlane), {
      metadata: { uid: controlPlane.metadata.uid },
      spec: { controlPlaneEndpoint: endpoint },
    });
  return taken ? describeTaken(wanted) : undefined;
}

/** Only of the object as it was seen: of another one in its place nothing is changed. */
async function follow(management: KubeClient, present: ClusterEndpoint, wanted: ClusterEndpoint): Promise<void> {
  const { labels, ownerReferences } = wanted.metadata;
  if (covers(present.spec, wanted.spec) && covers(present.metadata, { labels, ownerReferences })) return;
  const { uid, resourceVersion } = present.metadata;
  const metadata = { uid, resourceVersion, labels, ownerReferences };
  await management.patch(refOf(present), { metadata, spec: wanted.spec }, { fieldManager: COMPOSER });
}

/** Whether a control plane of that name controls the endpoint; its uid changes when `clusterctl move` makes it anew. */
export const isOwnEndpoint = ({ metadata }: ClusterEndpoint, { metadata: { name } }: ShootControlPlane): boolean =>
  metadata.ownerReferences?.some(
    (owner) => owner.kind === ShootControlPlane.kind && owner.name === name && owner.controller === true,
  ) ?? false;

/**
 * Whether another endpoint may be the Cluster's than the control plane's own. An own one that was surfaced is, also while its new value is on
 * the way to the Cluster: the kubeconfig makes no detour by the address that the Shoot has left.
 */
export const isOverruled = (own: ClusterEndpoint | undefined, controlPlane: ShootControlPlane): boolean =>
  own === undefined ||
  !isOwnEndpoint(own, controlPlane) ||
  findCondition(own.status?.conditions, "Surfaced")?.status !== "True";

const describeTaken = ({ metadata }: ClusterEndpoint): Obstacle => ({
  reason: "NameTaken",
  message: `ClusterEndpoint ${metadata.name} is no object of this control plane: delete it, or give it another name`,
});

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

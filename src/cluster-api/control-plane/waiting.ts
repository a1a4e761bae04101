import { refersTo, ShootCluster, type Cluster, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import { CONTROL_PLANE_SHOOT_LABEL } from "../../api/labels.ts";
import type { NamespacedKey } from "../../kube/index.ts";
import type { Obstacle } from "../objects/obstacle.ts";

/**
 * What a control plane's Shoot is not made before: the one that is to be adopted is there, the infrastructure is provisioned, and where
 * that brings the endpoint, the Cluster has one (scenarios 2 and 3 of the proposal). Undefined once nothing is missing. Pure.
 */
export function whyNotYet(
  { spec, status }: Cluster,
  controlPlane: ShootControlPlane,
  infrastructure: ShootCluster | undefined,
): Obstacle | undefined {
  const { shootRef, endpointFrom } = controlPlane.spec;
  if (shootRef !== undefined)
    return { reason: "ShootMissing", message: `there is no Shoot ${shootRef.name} in the project to be adopted` };
  const unseen = whyUnseen({ spec }, infrastructure);
  if (unseen !== undefined) return unseen;
  const isProvisioned = status?.initialization?.infrastructureProvisioned === true;
  if (spec.infrastructureRef !== undefined && !isProvisioned)
    return { reason: WAITING, message: "the Cluster's infrastructure is not provisioned yet" };
  if (endpointFrom === "Infrastructure" && !spec.controlPlaneEndpoint?.host)
    return { reason: "WaitingForEndpoint", message: "the Cluster has no endpoint yet" };
  return undefined;
}

/**
 * Why nothing is composed without an infrastructure that the Cluster names: where it is just not there, `clusterctl move` may have taken it
 * away, and the Shoot would lose its zones and its Seeds. Pure.
 */
export function whyUnseen(
  { spec: { infrastructureRef } }: Pick<Cluster, "spec">,
  infrastructure: ShootCluster | undefined,
): Obstacle | undefined {
  if (!refersTo(infrastructureRef, ShootCluster) || infrastructure !== undefined) return undefined;
  return {
    reason: WAITING,
    message: `ShootCluster ${infrastructureRef.name} is not there, or is not the Cluster's yet`,
  };
}

const WAITING = "WaitingForInfrastructure";

/**
 * Why a control plane that has had a Shoot gets no other: one that others have deleted took its users' objects with it, and another in
 * its place is a person's decision. Pure.
 */
export function whyNotAgain({ metadata }: ShootControlPlane, key: NamespacedKey): Obstacle | undefined {
  if (metadata.labels?.[CONTROL_PLANE_SHOOT_LABEL] === undefined) return undefined;
  const way = `take label ${CONTROL_PLANE_SHOOT_LABEL} from ShootControlPlane ${metadata.namespace}/${metadata.name}, or delete the Cluster`;
  const message = `Shoot ${key.namespace}/${key.name} was deleted, and not by its Cluster: for another one ${way}`;
  return { reason: SHOOT_DELETED, message };
}

/** The reason for which a control plane that had a Shoot has none now, and is not to get another by itself. */
export const SHOOT_DELETED = "ShootDeleted";

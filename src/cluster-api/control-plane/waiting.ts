import { ShootCluster, type Cluster, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Obstacle } from "../shoot/obstacle.ts";

/**
 * What a control plane's Shoot is not made before: the one that is to be adopted is there, the infrastructure is provisioned, and where
 * that brings the endpoint, the Cluster has one (seed 004, scenarios 2 and 3). Undefined once nothing is missing. Pure.
 */
export function whyNotYet(
  { spec, status }: Cluster,
  controlPlane: ShootControlPlane,
  infrastructure: ShootCluster | undefined,
): Obstacle | undefined {
  const { shootRef, endpointFrom } = controlPlane.spec;
  if (shootRef !== undefined)
    return { reason: "ShootMissing", message: `there is no Shoot ${shootRef.name} in the project to be adopted` };
  const isUnseen = spec.infrastructureRef?.kind === ShootCluster.kind && infrastructure === undefined;
  const isProvisioned = status?.initialization?.infrastructureProvisioned === true;
  if (spec.infrastructureRef !== undefined && (isUnseen || !isProvisioned))
    return { reason: "WaitingForInfrastructure", message: "the Cluster's infrastructure is not provisioned yet" };
  if (endpointFrom === "Infrastructure" && !spec.controlPlaneEndpoint?.host)
    return { reason: "WaitingForEndpoint", message: "the Cluster has no endpoint yet" };
  return undefined;
}

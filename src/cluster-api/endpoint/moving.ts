import type { Cluster } from "../../api/cluster-api/index.ts";
import type { ProviderReader } from "./provider-objects.ts";

/** The reason with which a control plane says, in any of its conditions, that it is on its way to another place. */
export const MOVING = "Moving";

/** Whether the control plane of a Cluster says that it moves. */
export async function isMoving(cluster: Cluster | undefined, providers: ProviderReader): Promise<boolean> {
  if (cluster === undefined) return false;
  const controlPlane = await providers.readOne(cluster.spec.controlPlaneRef, cluster.metadata.namespace);
  const conditions = controlPlane?.status?.conditions ?? [];
  return conditions.some(({ reason }) => reason === MOVING);
}

import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import { Shoot } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";

/** Where a Cluster's Shoot is, or is to be: in its project, under the name that is adopted, else under the Cluster's. */
export const shootKey = (
  { spec }: ShootControlPlane,
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
) => ({ namespace, name: spec.shootRef?.name ?? cluster });

/** The Shoot of that place, as the garden has it now; it may be another control plane's. */
export function findShoot(
  garden: KubeClient,
  controlPlane: ShootControlPlane,
  place: { readonly namespace: string; readonly cluster: string },
): Promise<Shoot | undefined> {
  return garden.read(Shoot, shootKey(controlPlane, place));
}

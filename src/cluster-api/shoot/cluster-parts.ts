import {
  refersTo,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
  type Cluster,
} from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Reflector } from "../../kube/index.ts";
import { isLeftToMove } from "../objects/paused.ts";
import { rowNameOf, type Pool } from "./row.ts";
import { clusterNameOf, type World } from "./world.ts";

/** The pools of a Cluster, as far as both halves of each are there and core has joined them. */
export function poolsOf(world: Pick<World, "of" | "pools">, { metadata }: Cluster): readonly Pool[] {
  return world.of.machinePools(metadata).flatMap((machinePool) => {
    const ref = machinePool.spec.template.spec.infrastructureRef;
    if (!refersTo(ref, ShootMachinePool)) return [];
    const infrastructure = world.pools.get(ref.name, metadata.namespace);
    return infrastructure === undefined ? [] : [{ machinePool, infrastructure }];
  });
}

/** The names of a Cluster's rows whose pools are being deleted; `clusterctl move` deletes what stays elsewhere. */
export function leavingRowsOf({ of }: Pick<World, "of">, { metadata }: Cluster): readonly string[] {
  return of
    .pools(metadata)
    .filter((pool) => pool.metadata.deletionTimestamp !== undefined && !isLeftToMove(pool))
    .map(rowNameOf);
}

/** The control plane that a Cluster names, where it is one of ours and core has joined it with the Cluster, by its label. */
export const controlPlaneOf = (
  { controlPlanes }: { readonly controlPlanes: Pick<Reflector<ShootControlPlane>, "get"> },
  cluster: Cluster,
): ShootControlPlane | undefined => joined(controlPlanes, ShootControlPlane, cluster, cluster.spec.controlPlaneRef);

/** The infrastructure of a Cluster, where it is one of ours and core has joined it with the Cluster, by its label. */
export const infrastructureOf = (
  { infrastructures }: { readonly infrastructures: Pick<Reflector<ShootCluster>, "get"> },
  cluster: Cluster,
): ShootCluster | undefined => joined(infrastructures, ShootCluster, cluster, cluster.spec.infrastructureRef);

function joined<T extends KubeObject>(
  objects: Pick<Reflector<T>, "get">,
  kind: Parameters<typeof refersTo>[1],
  { metadata }: Cluster,
  ref: Parameters<typeof refersTo>[0],
): T | undefined {
  if (!refersTo(ref, kind)) return undefined;
  const found = objects.get(ref.name, metadata.namespace);
  return found && clusterNameOf(found) === metadata.name ? found : undefined;
}

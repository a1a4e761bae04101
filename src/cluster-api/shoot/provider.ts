import type { Cluster, ShootControlPlane, ShootMachinePool } from "../../api/cluster-api/index.ts";
import { createController, type NamespacedKey } from "../../kube/index.ts";
import { removeShoot } from "../control-plane/deletion.ts";
import { reconcileControlPlane, type ControlPlaneDeps } from "../control-plane/control-plane.ts";
import { isOwn } from "../control-plane/identity.ts";
import type { Silence } from "../control-plane/report.ts";
import { unblockMove } from "../control-plane/unblock-move.ts";
import { isLeftToMove, isManagedElsewhere, isPaused } from "../endpoint/paused.ts";
import { reconcileInfrastructure } from "./infrastructure.ts";
import { reconcilePool, removePool, type PoolPlace } from "../machine-pool/machine-pool.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { createApiServers } from "./api-servers.ts";
import { pausedSaid, say } from "./say.ts";
import { clusterNameOf, createWorld, infrastructureOf, poolsOf, type World } from "./world.ts";
import { createShootWriter } from "./write.ts";

/**
 * Makes Shoots the control planes and the machines of Clusters. One reconciliation is for a whole Cluster: its infrastructure, its
 * control plane, its pools. Each derives anew what it does; what has to last is the Shoot's own flow.
 */
export function createShootProvider(deps: ClusterApiDeps): Part {
  const { management, garden, log } = deps;
  const world = createWorld(deps, (cluster) => controller.enqueue(cluster));
  const servers = createApiServers(log, (id) => {
    const [namespace = "", name = ""] = id.split("/");
    controller.enqueue({ namespace, name });
  });
  const silence: Silence = new Map();
  const all = { management, garden, world, writer: createShootWriter(garden), servers, silence };
  const controller = createController<NamespacedKey>({
    name: "cluster-api-shoots",
    concurrency: 16,
    log,
    reconcile: (key) => reconcileCluster(all, key),
  });

  return {
    start() {
      world.start();
      world.synced().then(
        () => controller.start(),
        () => log.info("stopped before the first lists"),
      );
    },
    async stop() {
      await world.stop();
      await controller.stop();
      await servers.stop();
    },
  };
}

async function reconcileCluster(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
): Promise<void | { readonly requeueAfter: number }> {
  const { world } = deps;
  const cluster = world.clusters.get(key.name, key.namespace);
  const controlPlane = controlPlaneOf(world, key);
  if (cluster !== undefined) await infrastructureOfCluster(deps, cluster);
  const again = controlPlane && (await controlPlaneOfCluster(deps, key, cluster, controlPlane));
  await poolsOfCluster(deps, key, cluster, controlPlane);
  if (cluster === undefined && controlPlane === undefined) {
    deps.servers.forget(`${key.namespace}/${key.name}`);
    deps.silence.delete(`${key.namespace}/${key.name}`);
  }
  return again;
}

/** One that core has joined with its Cluster, by its label: before, there is nothing to be done. */
const controlPlaneOf = ({ controlPlanes }: World, { namespace, name }: NamespacedKey): ShootControlPlane | undefined =>
  controlPlanes.list(namespace).find((one) => clusterNameOf(one) === name);

async function infrastructureOfCluster({ management, world }: ControlPlaneDeps, cluster: Cluster): Promise<void> {
  const infrastructure = infrastructureOf(world, cluster);
  if (infrastructure === undefined || infrastructure.metadata.deletionTimestamp !== undefined) return;
  if (isManagedElsewhere(infrastructure)) return;
  if (isPaused(cluster) || isPaused(infrastructure)) await say(management, infrastructure, [pausedSaid(true)]);
  else await reconcileInfrastructure(management, infrastructure);
}

async function controlPlaneOfCluster(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  controlPlane: ShootControlPlane,
): Promise<void | { readonly requeueAfter: number }> {
  if (isLeftToMove(controlPlane)) return undefined;
  if ((cluster && isPaused(cluster)) || isPaused(controlPlane)) {
    await unblockMove(deps, controlPlane, key.name);
    return await say(deps.management, controlPlane, [pausedSaid(true)]);
  }
  if (controlPlane.metadata.deletionTimestamp !== undefined) return await removeShoot(deps, controlPlane, key.name);
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return undefined;
  return await reconcileControlPlane(deps, cluster, controlPlane);
}

async function poolsOfCluster(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  controlPlane: ShootControlPlane | undefined,
): Promise<void> {
  const place = cluster && placeOf(deps.world, cluster, controlPlane);
  const own = deps.world.pools.list(key.namespace).filter((pool) => clusterNameOf(pool) === key.name);
  for (const infrastructure of own) await poolOfCluster(deps, infrastructure, place);
}

async function poolOfCluster(
  deps: ControlPlaneDeps,
  infrastructure: ShootMachinePool,
  place: PoolPlace | undefined,
): Promise<void> {
  if (isLeftToMove(infrastructure) || isManagedElsewhere(infrastructure)) return;
  if ((place && isPaused(place.cluster)) || isPaused(infrastructure))
    return await say(deps.management, infrastructure, [pausedSaid(true)]);
  if (infrastructure.metadata.deletionTimestamp !== undefined) return await removePool(deps, infrastructure, place);
  const pool = place?.pools.find((one) => one.infrastructure.metadata.name === infrastructure.metadata.name);
  if (place !== undefined && pool !== undefined) await reconcilePool(deps, pool, place);
}

function placeOf(world: World, cluster: Cluster, controlPlane: ShootControlPlane | undefined): PoolPlace {
  const shoot = controlPlane && world.shoots.list().find((one) => isOwn(one, controlPlane));
  return { cluster, pools: poolsOf(world, cluster), shoot };
}

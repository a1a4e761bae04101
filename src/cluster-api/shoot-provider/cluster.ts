import type { Cluster, ShootCluster, ShootControlPlane, ShootMachinePool } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { INFRASTRUCTURE_FINALIZER, SHOOT_FINALIZER } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { NamespacedKey } from "../../kube/index.ts";
import { inTurn, type Again } from "../again.ts";
import { reconcileControlPlane, type ControlPlaneDeps } from "../control-plane/control-plane.ts";
import { removeShoot } from "../control-plane/deletion.ts";
import { findOwnShoot } from "../control-plane/find.ts";
import { unblockMove } from "../control-plane/unblock-move.ts";
import { holdPool, reconcilePool, type FoundShoot, type PoolPlace } from "../machine-pool/machine-pool.ts";
import { removePool } from "../machine-pool/removal.ts";
import { isLeftToMove, isManagedElsewhere, isPaused, pausedSaid } from "../objects/paused.ts";
import { rememberAnnotations } from "../objects/remembered.ts";
import { say } from "../objects/say.ts";
import { keepWhatStays, letGoOfMoved } from "../objects/stay.ts";
import { removeInfrastructure } from "../shoot-cluster/deletion.ts";
import { needsOf } from "../shoot-cluster/needs.ts";
import { reconcileInfrastructure } from "../shoot-cluster/shoot-cluster.ts";
import { controlPlaneOf, infrastructureOf, poolsOf } from "../shoot/cluster-parts.ts";
import { idOf, isOwn } from "../shoot/identity.ts";
import { projectOf } from "../shoot/project.ts";
import { unlessRefused } from "../shoot/refused.ts";
import { sayObstacle, sayObstacleOfInfrastructure } from "../shoot/say-obstacle.ts";
import type { GardenList } from "../shoot/world.ts";

/**
 * Brings a Cluster with all its objects to where they are wanted. What is being deleted is seen to also where the Cluster names it no longer.
 */
export async function reconcileCluster(deps: ControlPlaneDeps, key: NamespacedKey): Promise<void | Again> {
  const { world } = deps;
  const cluster = world.clusters.get(key.name, key.namespace);
  const controlPlane = cluster && controlPlaneOf(world, cluster);
  if (cluster !== undefined) {
    const halves = poolsOf(world, cluster).flatMap(({ machinePool, infrastructure }) => [machinePool, infrastructure]);
    const infrastructures = [infrastructureOf(world, cluster), ...halves];
    await keepWhatStays(deps.management, cluster, [controlPlane, ...infrastructures]);
    if (!isPaused(cluster)) await rememberAnnotations(deps.management, infrastructures);
    await holdPools(deps, cluster);
  }
  const labelled = world.of.controlPlanes(key);
  const leaving = labelled.filter((one) => isLeaving(one) && one !== controlPlane);
  const again = await inTurn([
    async () => cluster && (await bringInfrastructure(deps, cluster)),
    async () => controlPlane && (await bringControlPlane(deps, key, cluster, controlPlane)),
    () => bringPools(deps, key, cluster, controlPlane),
    ...leaving.map((other) => () => bringControlPlane(deps, key, cluster, other)),
    ...world.of
      .infrastructures(key)
      .filter(isLeaving)
      .map((one) => () => leavingInfrastructure(deps, key, cluster, one)),
  ]);
  if (cluster === undefined && labelled.length === 0) {
    deps.servers.forget(`${key.namespace}/${key.name}`);
    deps.silence.delete(`${key.namespace}/${key.name}`);
  }
  return again;
}

/** One that is being deleted has a Shoot to see to, whether or not its Cluster names it still. */
const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

async function bringInfrastructure(deps: ControlPlaneDeps, cluster: Cluster): Promise<void | Again> {
  const infrastructure = infrastructureOf(deps.world, cluster);
  if (infrastructure === undefined || isLeaving(infrastructure) || isManagedElsewhere(infrastructure)) return undefined;
  if (isPaused(cluster) || isPaused(infrastructure))
    return await say(deps.management, infrastructure, [pausedSaid(true)]);
  const lists = needsOf(infrastructure);
  const obstacle = lists && deps.gardenView.obstacleTo(lists);
  if (obstacle !== undefined) return await sayObstacleOfInfrastructure(deps.management, infrastructure, obstacle);
  if (lists !== undefined && !deps.gardenView.knows(lists)) return undefined;
  return await unlessRefused(deps, reconcileInfrastructure(deps, cluster, infrastructure), (refusal) =>
    sayObstacleOfInfrastructure(deps.management, infrastructure, refusal),
  );
}

async function leavingInfrastructure(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  infrastructure: ShootCluster,
): Promise<void | Again> {
  if (isLeftToMove(infrastructure))
    return await letGoOfMoved(deps.management, cluster, infrastructure, INFRASTRUCTURE_FINALIZER);
  if ((cluster && isPaused(cluster)) || isPaused(infrastructure))
    return await say(deps.management, infrastructure, [pausedSaid(true)]);
  const obstacle = deps.gardenView.obstacleTo([]);
  if (obstacle !== undefined) return await sayObstacleOfInfrastructure(deps.management, infrastructure, obstacle);
  return await unlessRefused(deps, removeInfrastructure(deps, infrastructure, key.name), (refusal) =>
    sayObstacleOfInfrastructure(deps.management, infrastructure, refusal),
  );
}

async function holdPools({ management, world }: ControlPlaneDeps, cluster: Cluster): Promise<void> {
  if (isPaused(cluster)) return;
  for (const { infrastructure } of poolsOf(world, cluster))
    if (!isKeptOff(infrastructure) && !isPaused(infrastructure)) await holdPool(management, infrastructure);
}

/** A pool that another management cluster, or another system, looks after. */
const isKeptOff = (infrastructure: ShootMachinePool): boolean =>
  isLeftToMove(infrastructure) || isManagedElsewhere(infrastructure);

async function bringControlPlane(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  controlPlane: ShootControlPlane,
): Promise<void | Again> {
  if (isLeftToMove(controlPlane)) return await letGoOfMoved(deps.management, cluster, controlPlane, SHOOT_FINALIZER);
  if ((cluster && isPaused(cluster)) || isPaused(controlPlane)) {
    await unblockMove(deps, controlPlane, key.name);
    return await say(deps.management, controlPlane, [pausedSaid(true)]);
  }
  const obstacle = deps.gardenView.obstacleTo(OF_SHOOTS);
  if (obstacle !== undefined) return await sayObstacle(deps.management, controlPlane, obstacle);
  if (!deps.gardenView.knows(OF_SHOOTS)) return undefined;
  return await unlessRefused(deps, reconcileOrRemove(deps, key, cluster, controlPlane), (refusal) =>
    sayObstacle(deps.management, controlPlane, refusal),
  );
}

/** What control planes and pools need of the garden. */
const OF_SHOOTS: readonly GardenList[] = ["shoots", "kubeconfigs"];

async function reconcileOrRemove(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  controlPlane: ShootControlPlane,
): Promise<void | Again> {
  if (controlPlane.metadata.deletionTimestamp !== undefined) return await removeShoot(deps, controlPlane, key.name);
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return undefined;
  return await reconcileControlPlane(deps, cluster, controlPlane);
}

async function bringPools(
  deps: ControlPlaneDeps,
  key: NamespacedKey,
  cluster: Cluster | undefined,
  controlPlane: ShootControlPlane | undefined,
): Promise<void> {
  const place = cluster && placeOf(deps, cluster, controlPlane);
  for (const infrastructure of deps.world.of.pools(key)) {
    await letGoOfMoved(deps.management, cluster, infrastructure, SHOOT_FINALIZER);
    await bringPool(deps, infrastructure, place);
  }
}

async function bringPool(
  deps: ControlPlaneDeps,
  infrastructure: ShootMachinePool,
  place: PoolPlace | undefined,
): Promise<void> {
  if (isKeptOff(infrastructure)) return;
  if ((place && isPaused(place.cluster)) || isPaused(infrastructure))
    return await say(deps.management, infrastructure, [pausedSaid(true)]);
  if (infrastructure.metadata.deletionTimestamp !== undefined) return await removePool(deps, infrastructure, place);
  if (place !== undefined && !isLeaving(place.cluster) && !deps.gardenView.knows(OF_SHOOTS)) return;
  const pool = place?.pools.find((one) => one.infrastructure.metadata.name === infrastructure.metadata.name);
  if (place !== undefined && pool !== undefined) await reconcilePool(deps, pool, place);
}

function placeOf(deps: ControlPlaneDeps, cluster: Cluster, controlPlane: ShootControlPlane | undefined): PoolPlace {
  const shoot = controlPlane && ownShoot(deps, controlPlane);
  const findShoot = async () => (controlPlane ? await findShootNow(deps, cluster, controlPlane) : { shoot: undefined });
  return { cluster, pools: poolsOf(deps.world, cluster), shoot, findShoot };
}

/** A control plane that has no project and never had one has no Shoot; of any other, only the garden knows. */
async function findShootNow(
  deps: ControlPlaneDeps,
  cluster: Cluster,
  controlPlane: ShootControlPlane,
): Promise<FoundShoot> {
  const obstacle = deps.gardenView.obstacleTo(OF_SHOOTS);
  if (obstacle !== undefined) return { obstacle };
  const project = projectOf(deps, controlPlane);
  const hasHadProject = controlPlane.metadata.labels?.[PROJECT_NAMESPACE_LABEL] !== undefined;
  if ("obstacle" in project) return hasHadProject ? project : { shoot: undefined };
  const place = { namespace: project.namespace, cluster: cluster.metadata.name };
  return { shoot: await findOwnShoot(deps.garden, controlPlane, place) };
}

/** The Shoot with the control plane's id, in the only project that its namespace may use. */
function ownShoot(deps: ControlPlaneDeps, controlPlane: ShootControlPlane): Shoot | undefined {
  const project = projectOf(deps, controlPlane);
  if ("obstacle" in project) return undefined;
  const found = deps.world.shootsById(idOf(controlPlane) ?? "");
  return found.find((one) => one.metadata.namespace === project.namespace && isOwn(one, controlPlane));
}

import type { ShootMachinePool } from "../../api/cluster-api/index.ts";
import { SHOOT_FINALIZER } from "../../api/names.ts";
import { dropFinalizer } from "../../kube/index.ts";
import type { Said } from "../objects/conditions.ts";
import { say } from "../objects/say.ts";
import { isOfGarden } from "../shoot/garden-view.ts";
import { rowNameOf } from "../shoot/row.ts";
import { nodesOf, rivalOf, tell, type PoolDeps, type PoolPlace, type Seeing } from "./machine-pool.ts";

/**
 * Lets go of a pool that is being deleted: at once with its Cluster, or where its row is another pool's; else when no machine of it
 * is left, and the garden itself says that the Shoot has no such row. Where the garden cannot be asked, the pool stays and says why.
 * Whether it is ready is Unknown then.
 */
export async function removePool(
  { management, ...deps }: PoolDeps,
  infrastructure: ShootMachinePool,
  place: PoolPlace | undefined,
): Promise<void> {
  const isHeld = infrastructure.metadata.finalizers?.includes(SHOOT_FINALIZER) === true;
  if (isHeld && place !== undefined && isAwaited(infrastructure, place)) {
    const left = findRemains(deps, infrastructure, place) ?? (await findRemainsNow(deps, infrastructure, place));
    if (left !== undefined) {
      const { nodes, said } = left;
      if (nodes !== undefined) await tell(management, infrastructure, nodes);
      return await say(management, infrastructure, [said], nodes && { replicas: nodes.length });
    }
  }
  await dropFinalizer(management, infrastructure, SHOOT_FINALIZER);
}

/** What keeps a pool that is being deleted. */
interface Remains {
  /** Undefined while the Shoot does not tell. */
  readonly nodes?: readonly string[] | undefined;
  readonly said: Said;
}

function findRemains(deps: Seeing, infrastructure: ShootMachinePool, place: PoolPlace): Remains | undefined {
  if (place.shoot === undefined) return undefined;
  const name = rowNameOf(infrastructure);
  const hasRow = place.shoot.spec.provider.workers?.some((row) => row.name === name) === true;
  const nodes = nodesOf(deps, place, name);
  const hasNodes = nodes === undefined ? mayHaveNodes(place) : nodes.length > 0;
  return hasRow || hasNodes ? { nodes, said: whyNotGone(place, hasRow) } : undefined;
}

async function findRemainsNow(
  deps: Seeing,
  infrastructure: ShootMachinePool,
  place: PoolPlace,
): Promise<Remains | undefined> {
  const found = await place.findShoot();
  if ("obstacle" in found)
    return { said: { type: "Ready", status: isOfGarden(found.obstacle) ? "Unknown" : "False", ...found.obstacle } };
  return findRemains(deps, infrastructure, { ...place, shoot: found.shoot });
}

/** Whether a pool's machines go while the rest of its Cluster stays. */
const isAwaited = (infrastructure: ShootMachinePool, place: PoolPlace): boolean =>
  place.cluster.metadata.deletionTimestamp === undefined && rivalOf(infrastructure, place) === undefined;

/** Whether a Shoot that does not tell its Nodes may have some: one that hibernates has none, nor has one that never answered. */
const mayHaveNodes = ({ cluster, shoot }: PoolPlace): boolean =>
  shoot?.status?.hibernated !== true && cluster.status?.initialization?.controlPlaneInitialized === true;

function whyNotGone({ shoot }: PoolPlace, hasRow: boolean): Said {
  const isLast = hasRow && shoot?.spec.provider.workers?.length === 1;
  const message = isLast
    ? "a Shoot cannot lose its last worker pool: delete the Cluster, or create another pool first"
    : "machines of the pool are Nodes of the Shoot still";
  return { type: "Ready", status: "False", reason: isLast ? "LastMachinePool" : "Deleting", message };
}

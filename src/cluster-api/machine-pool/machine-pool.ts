import type { Cluster, ShootMachinePool } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { POOL_LABEL } from "../../api/labels.ts";
import { kubeconfigSecretName, SHOOT_FINALIZER } from "../../api/names.ts";
import { addFinalizer, refOf, type KubeClient } from "../../kube/index.ts";
import { publishedKubeconfig } from "../control-plane/kubeconfig.ts";
import { findCondition, type Said } from "../objects/conditions.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { pausedSaid } from "../objects/paused.ts";
import { say } from "../objects/say.ts";
import type { ApiServers } from "../shoot/api-servers.ts";
import { autoscalerBoundsOf, rowNameOf, type Pool } from "../shoot/row.ts";
import { holderOf } from "../shoot/rows.ts";
import type { World } from "../shoot/world.ts";

/** What a pool's reconciliation works with. */
export interface PoolDeps {
  readonly management: KubeClient;
  readonly world: World;
  readonly servers: ApiServers;
}

/** What tells which machines are Nodes. */
export type Seeing = Omit<PoolDeps, "management">;

/** A pool's Cluster, and the Shoot of that, if it has one. */
export interface PoolPlace {
  readonly cluster: Cluster;
  readonly shoot: Shoot | undefined;
  readonly pools: readonly Pool[];
  /** The Shoot as the garden has it now, or why it cannot be asked: a watch may be behind the write that has brought a row. */
  findShoot(): Promise<FoundShoot>;
}

/** A Shoot, or that there is none, or why that is not known. */
export type FoundShoot = { readonly shoot: Shoot | undefined } | { readonly obstacle: Obstacle };

/**
 * Tells of a pool which machines are Nodes of its Shoot: as `spec.providerIDList`, as replicas, and as ready in both contracts' words.
 * Of a Shoot that does not answer nothing is told: what is known of its machines stays. Nor of a row that is another pool's.
 */
export async function reconcilePool(
  { management, world, servers }: PoolDeps,
  pool: Pool,
  place: PoolPlace,
): Promise<void> {
  const { infrastructure } = pool;
  const rival = rivalOf(infrastructure, place);
  const found = rival === undefined ? nodesOf({ world, servers }, place, rowNameOf(infrastructure)) : undefined;
  if (found !== undefined) await tell(management, infrastructure, found);
  const isThere = found !== undefined && isComplete(place, rowNameOf(infrastructure), found);
  const isProvisioned = isThere || infrastructure.status?.initialization?.provisioned === true;
  const ready = rival === undefined ? readiness(pool, place, found, isThere) : nameTaken(infrastructure, rival);
  await say(management, infrastructure, [ready, pausedSaid(false)], {
    ...(isProvisioned && { ready: true, initialization: { provisioned: true } }),
    ...(found && { replicas: found.length }),
  });
  if (isProvisioned && found !== undefined) await tellReplicas(management, pool, found.length);
}

/** Keeps a pool from going unseen: before its row is in the Shoot, so that the row goes with it. */
export async function holdPool(management: KubeClient, infrastructure: ShootMachinePool): Promise<void> {
  if (infrastructure.metadata.deletionTimestamp === undefined)
    await addFinalizer(management, infrastructure, SHOOT_FINALIZER);
}

/** Another pool that has the row of this one's name. */
export function rivalOf(infrastructure: ShootMachinePool, { pools }: PoolPlace): Pool | undefined {
  const holder = holderOf(infrastructure, pools);
  return holder?.infrastructure.metadata.name === infrastructure.metadata.name ? undefined : holder;
}

const nameTaken = (infrastructure: ShootMachinePool, { machinePool }: Pool): Said => ({
  type: "Ready",
  status: "False",
  reason: "NameTaken",
  message: `worker ${rowNameOf(infrastructure)} of the Shoot is MachinePool ${machinePool.metadata.name}: give this pool another spec.name`,
});

/** Whether a Shoot has the row, and as many Nodes of it as it is to have at least. */
function isComplete({ shoot }: PoolPlace, name: string, found: readonly string[]): boolean {
  const row = shoot?.spec.provider.workers?.find((one) => one.name === name);
  return row !== undefined && found.length >= row.minimum;
}

/** Where an autoscaler decides how many machines there are, the MachinePool is told. */
async function tellReplicas(management: KubeClient, pool: Pool, replicas: number): Promise<void> {
  const { machinePool } = pool;
  if (autoscalerBoundsOf(pool) !== undefined && machinePool.spec.replicas !== replicas)
    await management.patch(refOf(machinePool), { spec: { replicas } });
}

/** The machines of a row that are Nodes, by what their provider calls them; undefined while the Shoot does not tell. */
export function nodesOf(
  { world, servers }: Seeing,
  { cluster, shoot }: PoolPlace,
  row: string,
): readonly string[] | undefined {
  if (shoot === undefined || shoot.spec.hibernation?.enabled === true) return undefined;
  const { name, namespace } = shoot.metadata;
  const kubeconfig = publishedKubeconfig(world.kubeconfigs.get(kubeconfigSecretName(name), namespace));
  const isInitialized = cluster.status?.initialization?.controlPlaneInitialized === true;
  if (kubeconfig === undefined || !isInitialized) return undefined;
  return servers
    .nodes(`${cluster.metadata.namespace}/${cluster.metadata.name}`, kubeconfig)
    ?.filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === row)
    .flatMap(({ spec }) => spec?.providerID ?? [])
    .sort();
}

/** Writes down for core which machines a pool has, where that has changed. */
export async function tell(
  management: KubeClient,
  infrastructure: ShootMachinePool,
  found: readonly string[],
): Promise<void> {
  const { providerIDList = [] } = infrastructure.spec;
  if (providerIDList.join() !== found.join())
    await management.patch(refOf(infrastructure), {
      metadata: { uid: infrastructure.metadata.uid },
      spec: { providerIDList: found },
    });
}

function readiness(pool: Pool, { shoot }: PoolPlace, found: readonly string[] | undefined, isThere: boolean): Said {
  const type = "Ready";
  const before = findCondition(pool.infrastructure.status?.conditions, type);
  if (shoot === undefined)
    return { type, status: "False", reason: "WaitingForShoot", message: "there is no Shoot yet" };
  if (found === undefined)
    return before?.status === "True"
      ? { type, status: "True", reason: before.reason, message: before.message }
      : { type, status: "Unknown", reason: "NodesUnknown", message: "the Shoot does not tell its Nodes yet" };
  const { replicas = 1 } = pool.machinePool.spec;
  if (isThere) return { type, status: "True", reason: "Ready", message: "" };
  return {
    type,
    status: "False",
    reason: "WaitingForNodes",
    message: `${found.length} of ${replicas} machines are Nodes`,
  };
}

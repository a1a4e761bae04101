import { OWNED_WORKERS_ANNOTATION } from "../../api/annotations.ts";
import type { ShootMachinePool } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { obstacle, type Obstacle } from "../objects/obstacle.ts";
import { rowNameOf, rowOf, type Pool, type Row, type RowFacts } from "./row.ts";

/** The rows that pools bring to a Shoot, or what stands against them. */
export type Rows = { readonly chosen: readonly Row[] } | { readonly obstacle: Obstacle };

/** What rows are chosen by, besides the pools. */
export interface Choosing {
  readonly workerless: boolean;
  readonly present: Shoot | undefined;
  /** Whether the present one is this control plane's: what pools of another Cluster have brought is not its own. */
  readonly isOwn: boolean;
  /** The names of rows whose pools are being deleted. */
  readonly leaving: readonly string[];
}

/**
 * The rows of the pools that stay, by name. Of two pools with one row's name the older counts. A Shoot with machines is not made
 * before its first pool is there, and keeps its last one; one without machines has no pools. A row goes only while its pool is seen
 * being deleted: where a pool is just not there, `clusterctl move` may have taken it away, and a user's machines with it.
 */
export function chooseRows(
  pools: readonly Pool[],
  facts: RowFacts,
  { workerless, present, isOwn, leaving }: Choosing,
): Rows {
  const staying = firstOfEachName(pools.filter(isStaying));
  if (workerless && staying[0] !== undefined)
    return obstacle("Workerless", `the Shoot has no machines: MachinePool ${nameOf(staying[0])} cannot be one of its`);
  if (workerless) return { chosen: [] };
  const brought = isOwn ? ownedRows(present) : [];
  const lost = brought.find((name) => !leaving.includes(name) && !staying.some((pool) => isOf(pool, name)));
  if (lost !== undefined) return obstacle("PoolMissing", describeLost(lost));
  const others = foreignRows(present);
  if (staying.length === 0 && others.length === 0)
    return present === undefined
      ? obstacle("WaitingForMachinePool", "the Shoot is made with its first MachinePool; or set spec.workerless")
      : obstacle(
          "LastMachinePool",
          "a Shoot cannot lose its last worker pool: delete the Cluster, or create another pool first",
        );
  return { chosen: staying.map((pool) => rowOf(pool, facts)) };
}

const isOf = ({ infrastructure }: Pool, row: string): boolean => rowNameOf(infrastructure) === row;

const describeLost = (row: string): string =>
  `worker ${row} of the Shoot has lost its pool, and none was seen being deleted: bring MachinePool and ShootMachinePool back, or take the worker from the Shoot itself if its machines are to go`;

/** Which pool has the row of this pool's name: another where two have one name, and the other is older. */
export function holderOf(infrastructure: ShootMachinePool, pools: readonly Pool[]): Pool | undefined {
  const name = rowNameOf(infrastructure);
  return firstOfEachName(pools.filter(isStaying)).find((one) => rowNameOf(one.infrastructure) === name);
}

const isStaying = ({ machinePool, infrastructure }: Pool): boolean =>
  machinePool.metadata.deletionTimestamp === undefined && infrastructure.metadata.deletionTimestamp === undefined;

function firstOfEachName(pools: readonly Pool[]): readonly Pool[] {
  const byAge = [...pools].sort((a, b) => ageOf(a).localeCompare(ageOf(b)) || (nameOf(a) < nameOf(b) ? -1 : 1));
  const first = new Map<string, Pool>();
  for (const pool of byAge) {
    const name = rowNameOf(pool.infrastructure);
    if (!first.has(name)) first.set(name, pool);
  }
  return [...first.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pool]) => pool);
}

const ageOf = ({ infrastructure }: Pool): string => infrastructure.metadata.creationTimestamp ?? "";
const nameOf = ({ machinePool }: Pool): string => machinePool.metadata.name;

/** Rows of an adopted Shoot that no MachinePool has brought. */
function foreignRows(present: Shoot | undefined): readonly Row[] {
  const owned = ownedRows(present);
  return (present?.spec.provider.workers ?? []).filter(({ name }) => !owned.includes(name));
}

/** The names of a Shoot's rows that MachinePools have brought. */
function ownedRows(present: Shoot | undefined): readonly string[] {
  const owned = (present?.metadata.annotations?.[OWNED_WORKERS_ANNOTATION] ?? "").split(",");
  return owned.filter((name) => present?.spec.provider.workers?.some((row) => row.name === name) === true);
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeRole } from "../../api/names.ts";
import { poolsOf, type ControlPlaneContext, type WorkerPool } from "../../components/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { OperatorError } from "../steps/fault.ts";

/** Where in its cluster a machine is to be, as the operator says it. */
export interface WantedPlace {
  readonly role: NodeRole;
  readonly pool?: string | undefined;
  readonly zone?: string | undefined;
}

/** The pool that a machine joins, and its zone, if the pool has any. */
export interface Place {
  readonly pool: WorkerPool;
  readonly zone?: string;
}

/** Chooses, by upstream's rules: the first pool of workers, unless one is named; the zone where there is but one. Throws an OperatorError. */
export function placeOf(context: Pick<ControlPlaneContext, "shoot">, { role, pool: name, zone }: WantedPlace): Place {
  const pools = poolsOf(context);
  const fitting = pools.filter(({ controlPlane }) => (controlPlane === undefined) === (role === "worker"));
  const pool = name === undefined ? fitting[0] : fitting.find((each) => each.name === name);
  if (pool !== undefined) return { pool, ...zoneOf(pool, zone) };
  const names = fitting.map((each) => each.name).join(", ");
  const { name: shoot } = context.shoot.metadata;
  if (name === undefined)
    throw new OperatorError(`Shoot ${shoot} has no pool of ${role} nodes: add one in spec.provider.workers`);
  const isOther = pools.some((each) => each.name === name);
  throw new OperatorError(
    isOther
      ? `pool ${name} is none of ${role} nodes: name one of ${names} with --worker-pool-name`
      : `Shoot ${shoot} has no pool ${name}: name one of ${names} with --worker-pool-name`,
  );
}

function zoneOf({ name, zones = [] }: WorkerPool, zone: string | undefined): { zone?: string } {
  const [first] = zones;
  if (zone !== undefined && zones.length === 0) throw new OperatorError(`pool ${name} has no zones: leave out --zone`);
  if (zone !== undefined && !zones.includes(zone))
    throw new OperatorError(`pool ${name} has no zone ${zone}: name one of ${zones.join(", ")} with --zone`);
  if (zone === undefined && zones.length > 1)
    throw new OperatorError(`pool ${name} has zones ${zones.join(", ")}: say with --zone in which one this machine is`);
  const chosen = zone ?? first;
  return chosen === undefined ? {} : { zone: chosen };
}

/** What the kubelet's unit reads besides. */
const EXTRA_ARGS = "/var/lib/kubelet/extra_args";

const ZONE_FLAG = "KUBELET_EXTRA_ARGS=--node-labels=topology.kubernetes.io/zone=";

/** Has the kubelet of the machine whose `/` is `root` say in which zone it is, when it registers its Node. */
export async function noteZone(root: string, zone: string | undefined): Promise<void> {
  if (zone !== undefined) await writeWhole(join(root, EXTRA_ARGS), Buffer.from(`${ZONE_FLAG}${zone}\n`), 0o600);
}

/** The zone that was noted; undefined where none was. */
export async function readZone(root: string): Promise<string | undefined> {
  const text = await readFile(join(root, EXTRA_ARGS), "utf8").catch(() => "");
  return text.startsWith(ZONE_FLAG) ? text.slice(ZONE_FLAG.length).trim() : undefined;
}

import { createHash } from "node:crypto";
import {
  REPLICAS_MANAGED_BY_ANNOTATION,
  TOPOLOGY_POOL_LABEL,
  type MachinePool,
  type ShootMachinePool,
} from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { annotationOf } from "../objects/remembered.ts";

/** One worker pool of a Shoot. */
export type Row = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** A pool of Cluster API: what says how many machines there are, and what says of which kind. */
export interface Pool {
  readonly machinePool: MachinePool;
  readonly infrastructure: ShootMachinePool;
}

/** What of a Cluster decides about the rows of its Shoot. */
export interface RowFacts {
  /** The control plane's version, with a leading v: rows of the same version say none. */
  readonly version: string | undefined;
  /** Zones of the infrastructure, for pools that say none. */
  readonly zones: readonly string[] | undefined;
}

/**
 * The worker pool that a pool of Cluster API stands for: replicas and failure domains are the MachinePool's, unless an autoscaler
 * decides about the replicas; the rest is the ShootMachinePool's.
 */
export function rowOf({ machinePool, infrastructure }: Pool, { version, zones: common }: RowFacts): Row {
  const { name: _, providerIDList: __, minimum: ___, maximum: ____, zones, kubernetes, ...kept } = infrastructure.spec;
  const { failureDomains = [], template } = machinePool.spec;
  const kubelet = template.spec.version === version ? undefined : template.spec.version?.replace(/^v/, "");
  const versioned = { ...kubernetes, ...omitUndefined({ version: kubelet }) };
  return {
    ...kept,
    name: rowNameOf(infrastructure),
    ...boundsOf({ machinePool, infrastructure }),
    ...omitUndefined({
      kubernetes: Object.keys(versioned).length > 0 ? versioned : undefined,
      zones: failureDomains.length > 0 ? failureDomains : (zones ?? common?.slice()),
    }),
  };
}

/** How few and how many machines there may be: as many as there are replicas, unless another decides between bounds. */
function boundsOf(pool: Pool): Bounds {
  const { replicas = 1 } = pool.machinePool.spec;
  return autoscalerBoundsOf(pool) ?? { minimum: replicas, maximum: replicas };
}

type Bounds = Pick<Row, "minimum" | "maximum">;

/**
 * Between which bounds another than the MachinePool's owner decides how many machines there are (contract: "externally managed
 * autoscaler"). Undefined without both bounds: the replicas decide then, and cannot follow the Nodes that they decide about.
 */
export function autoscalerBoundsOf({ machinePool, infrastructure }: Pool): Bounds | undefined {
  const { minimum, maximum } = infrastructure.spec;
  const manager = annotationOf(machinePool, REPLICAS_MANAGED_BY_ANNOTATION);
  const isAutoscaled = manager !== undefined && manager !== "false"; // as core reads it
  return isAutoscaled && minimum !== undefined && maximum !== undefined ? { minimum, maximum } : undefined;
}

/** The name of a pool's row: its own, its topology's or its object's, where that fits into a worker's name; else a hash. */
export function rowNameOf({ spec, metadata }: ShootMachinePool): string {
  const names = [spec.name, metadata.labels?.[TOPOLOGY_POOL_LABEL], metadata.name];
  const hash = createHash("sha256").update(metadata.name).digest("hex").slice(0, 10);
  return names.find((name) => name !== undefined && isWorkerName(name)) ?? `pool-${hash}`;
}

/** Of a DNS label's form, and at most 15 characters long, as the Shoot's own schema has it. */
const isWorkerName = (name: string): boolean => /^[a-z0-9](?:[-a-z0-9]{0,13}[a-z0-9])?$/.test(name);

import { createHash } from "node:crypto";
import { MACHINE_POOL_HASH_LABEL } from "../../api/labels.ts";
import type { Worker } from "../../api/index.ts";

/** One pool of a Worker. */
export type Pool = Worker["spec"]["pools"][number];

/** A machine as far as planning needs it. */
export interface PlannedMachine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What to do next for a pool; after it the pool is looked at again. */
export type PoolAction =
  | { readonly create: readonly string[] }
  | { readonly remove: readonly string[]; readonly whenReady: readonly string[] }
  | { readonly done: true };

/** What can't be changed on a running machine: a pool with another hash needs other machines (Gardener's worker pool hash). */
export function poolHash(pool: Pool): string {
  const [major, minor] = (pool.kubernetesVersion ?? "").split(".");
  const { machineType, machineImage, volume, dataVolumes, providerConfig, nodeAgentSecretName } = pool;
  const key = nodeAgentSecretName ?? pool.userDataSecretRef.name;
  const facts = [
    machineType,
    machineImage?.name,
    machineImage?.version,
    volume,
    dataVolumes,
    providerConfig,
    key,
    major,
    minor,
  ];
  return shortHash(stableJson(facts), 8);
}

/** The names of a pool's machines: the same each time, so that no machine can be made twice. */
export function machineNames(namespace: string, pool: Pool, count: number): string[] {
  const hash = poolHash(pool);
  return Array.from({ length: count }, (_, index) => {
    const suffix = shortHash(`${namespace}/${pool.name}/${hash}/${index}`, 5);
    return `${`${namespace}-${pool.name}`.slice(0, 57)}-${suffix}`;
  });
}

/** The next action that brings a pool's machines to `count` of its present version, within maxSurge and maxUnavailable. */
export function planPool(
  namespace: string,
  pool: Pool,
  count: number,
  machines: readonly PlannedMachine[],
): PoolAction {
  const wanted = machineNames(namespace, pool, count);
  const present = new Set(machines.map(({ name }) => name));
  const missing = wanted.filter((name) => !present.has(name));
  const old = machines
    .filter(({ labels }) => labels[MACHINE_POOL_HASH_LABEL] !== poolHash(pool))
    .map(({ name }) => name);
  const current = machines.filter(({ name }) => !old.includes(name)).map(({ name }) => name);
  const surplus = current.filter((name) => !wanted.includes(name));

  if (surplus.length > 0) return { remove: surplus, whenReady: [] };
  if (old.length === 0) return missing.length === 0 ? { done: true } : { create: missing };

  const unavailable = amountOf(pool.maxUnavailable, count, Math.floor);
  // Kubernetes' own rule: with neither, nothing could ever be updated.
  const surge = Math.max(amountOf(pool.maxSurge, count, Math.ceil), unavailable === 0 ? 1 : 0);
  const room = count + surge - machines.length;
  if (missing.length > 0 && room > 0) return { create: missing.slice(0, room) };
  const removable = machines.length - (count - unavailable);
  return { remove: old.slice(0, removable), whenReady: current };
}

function amountOf(value: number | string, count: number, round: (x: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? Number(value) || 0 : round((Number(percent) / 100) * count);
}

/** The same text whatever the order in which an API server returns the fields. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (inner ?? null),
  );
}

function shortHash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

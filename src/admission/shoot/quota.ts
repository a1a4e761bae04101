import { isDeepStrictEqual } from "node:util";
import { EXPIRATION_ANNOTATION } from "../../api/annotations.ts";
import { counted } from "../../api/counted.ts";
import { quotaMetrics, type QuotaMetric } from "../../api/core/quota.ts";
import type { CloudProfile, Quota, Shoot } from "../../api/index.ts";
import { nanosOf, quantityOf } from "../../api/schema/quantity.ts";
import type { KnownPool, KnownShoot } from "../watched/known.ts";
import type { Cause } from "../review.ts";

/** A Shoot, or one version of it, and what it can be made of. */
export interface Consumer {
  readonly shoot: Pick<KnownShoot, "spec">;
  readonly profile: CloudProfile | undefined;
}

/** A Quota that holds for a Shoot, and the other Shoots for which it holds. */
export interface QuotaUse {
  readonly quota: Quota;
  /** Each with all versions that may be stored. */
  readonly others: readonly (readonly Consumer[])[];
}

/** What a Shoot uses at most, in billionths of the metrics' units. */
type Use = Partial<Record<QuotaMetric, bigint>>;

/**
 * Why the Shoot needs more than its Quotas leave. Each of them has to have room; what counts is the largest size of the worker
 * pools (Gardener: plugin ShootQuotaValidator).
 */
export function quotaCauses(consumer: Consumer, quotas: readonly QuotaUse[]): Cause[] {
  const [own, usesOf] = [useOf(consumer), createUses()];
  return quotas.flatMap(({ quota: { metadata, spec }, others }) => {
    const taken = others.map((versions) => largest(versions.map(usesOf)));
    return quotaMetrics.flatMap((metric): Cause[] => {
      const limit = nanosOf(spec.metrics[metric] ?? "");
      const before = taken.reduce((sum, use) => sum + (use[metric] ?? 0n), 0n);
      const wanted = own[metric] ?? 0n;
      if (limit === undefined || before + wanted <= limit) return [];
      const message = `need ${quantityOf(wanted)} ${metric}, and Quota ${metadata.namespace}/${metadata.name} has ${quantityOf(limit)} of which ${quantityOf(before)} are taken: choose fewer or smaller machines`;
      return [{ field: "spec.provider.workers", message, forbidden: true }];
    });
  });
}

/** Whether a change can need more than the Shoot had: pools that are new, of another machine or volume, or of another size. */
export function needsQuota(shoot: Shoot, old: Shoot | undefined): boolean {
  if (old === undefined) return true;
  const before = new Map((old.spec.provider.workers ?? []).map((pool) => [pool.name, measured(pool)]));
  return (shoot.spec.provider.workers ?? []).some((pool) => !isDeepStrictEqual(before.get(pool.name), measured(pool)));
}

/** Why the Shoot cannot live as long as its annotation says: a Quota ends the lives of its Shoots. */
export function lifetimeCauses(shoot: Shoot, old: Shoot | undefined, quotas: readonly Quota[], now: Date): Cause[] {
  const [wanted, before] = [shoot, old].map((one) => one?.metadata.annotations?.[EXPIRATION_ANNOTATION]);
  if (wanted === undefined || wanted === before) return [];
  const field = `metadata.annotations[${EXPIRATION_ANNOTATION}]`;
  const time = Date.parse(wanted);
  if (Number.isNaN(time)) return [{ field, message: "must be a time such as 2026-11-25T10:00:00Z" }];
  const days = Math.min(...quotas.map(({ spec }) => spec.clusterLifetimeDays ?? Infinity));
  if (time <= now.getTime() + days * DAY) return [];
  return [{ field, message: `must be within ${counted(days, "day")} from now, which a Quota sets`, forbidden: true }];
}

const DAY = 24 * 3_600_000;

const measured = ({ machine, maximum, volume, dataVolumes = [] }: KnownPool) => ({
  ...{ type: machine.type, maximum, volume },
  dataVolumes: dataVolumes.map(({ type, size }) => ({ type, size })),
});

/** What consumers use, each counted once for all Quotas that hold for it. */
function createUses(): (consumer: Consumer) => Use {
  const known = new Map<Consumer, Use>();
  return (consumer) => {
    const use = known.get(consumer) ?? useOf(consumer);
    known.set(consumer, use);
    return use;
  };
}

/** A Shoot's API server takes a load balancer. Machines that the profile does not offer any more count for nothing. */
function useOf({ shoot, profile }: Consumer): Use {
  const pools = (shoot.spec.provider.workers ?? []).map((pool) => useOfPool(pool, profile?.spec));
  const load: Use = { loadbalancer: nanosOf(1) ?? 0n };
  return Object.fromEntries(
    quotaMetrics.map((metric) => [metric, [load, ...pools].reduce((sum, use) => sum + (use[metric] ?? 0n), 0n)]),
  );
}

/** Of several versions each may be the one that is stored. */
const largest = (uses: readonly Use[]): Use =>
  Object.fromEntries(
    quotaMetrics.map((metric) => [
      metric,
      uses.reduce((most, { [metric]: use = 0n }) => (use > most ? use : most), 0n),
    ]),
  );

function useOfPool(
  { machine, maximum, volume, dataVolumes = [] }: KnownPool,
  offer: CloudProfile["spec"] | undefined,
): Use {
  const type = offer?.machineTypes.find(({ name }) => name === machine.type);
  if (type === undefined) return {};
  const times = (quantity: string | number | undefined) => (nanosOf(quantity ?? 0) ?? 0n) * BigInt(maximum);
  const { cpu, gpu, memory, storage } = type;
  const disks = [volume ?? { type: storage?.type, size: storage?.size }, ...dataVolumes];
  const storageOf = (metric: QuotaMetric) =>
    disks
      .filter((disk) => metricsOf(disk.type, storage, offer).includes(metric))
      .reduce((sum, { size }) => sum + times(size), 0n);
  const stored = storageMetrics.map((metric) => [metric, storageOf(metric)]);
  return { cpu: times(cpu), gpu: times(gpu), memory: times(memory), ...(Object.fromEntries(stored) as Use) };
}

const storageMetrics = ["storage.standard", "storage.premium"] as const satisfies readonly QuotaMetric[];

/** By which metrics a volume counts: by each where nothing says of which class it is, because users may leave its type out. */
function metricsOf(
  type: string | undefined,
  storage: CloudProfile["spec"]["machineTypes"][number]["storage"],
  offer: CloudProfile["spec"] | undefined,
): readonly QuotaMetric[] {
  const own = type === undefined || type === storage?.type ? storage?.class : undefined;
  const named = offer?.volumeTypes?.find(({ name }) => name === type)?.class ?? own;
  const known = storageMetrics.filter((metric) => metric === `storage.${named}`);
  return known.length === 0 ? storageMetrics : known;
}

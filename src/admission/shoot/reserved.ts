import { isDeepStrictEqual } from "node:util";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import { nanosOf } from "../../api/schema/quantity.ts";
import { HARD_DISK_THRESHOLD, KUBE_RESERVED, memoryThresholds } from "../../api/shoot/kubelet-defaults.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];
type Amount = string | number;

/**
 * Why kubelets would not start, or leave nothing to pods: what they reserve, and the free memory and disk below which they evict pods, is
 * all that their machine has. What a pool had before stays (Gardener: plugin ShootValidator).
 */
export function reservedCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">, profile: CloudProfile): Cause[] {
  return (shoot.spec.provider.workers ?? []).flatMap((pool, index) => {
    const before = old?.spec.provider.workers?.find(({ name }) => name === pool.name);
    if (old && before && isDeepStrictEqual(factsOf(shoot, pool), factsOf(old, before))) return [];
    return poolCauses(shoot, pool, index, profile);
  });
}

/** What a pool is judged by; its own settings of kubelets take the place of the Shoot's as a whole. */
function factsOf({ spec }: Shoot, pool: Pool) {
  const { kubeReserved, evictionHard } = pool.kubernetes?.kubelet ?? spec.kubernetes.kubelet ?? {};
  const { memoryAvailable, nodeFSAvailable } = evictionHard ?? {};
  return { type: pool.machine.type, disk: volumeOf(pool), kubeReserved, memoryAvailable, nodeFSAvailable };
}

/** The size of the volume that kubelets keep their data on; undefined where the machine type brings it. */
function volumeOf({ volume, dataVolumes = [], kubeletDataVolumeName }: Pool): string | undefined {
  if (kubeletDataVolumeName === undefined) return volume?.size;
  return dataVolumes.find(({ name }) => name === kubeletDataVolumeName)?.size;
}

function poolCauses(shoot: Shoot, pool: Pool, index: number, { spec }: CloudProfile): Cause[] {
  const at = `spec.provider.workers[${index}]`;
  const type = spec.machineTypes.find(({ name }) => name === pool.machine.type);
  const facts = factsOf(shoot, pool);
  const path = `${pool.kubernetes?.kubelet ? at : "spec"}.kubernetes.kubelet`;
  const reserving = (resource: "cpu" | "memory" | "ephemeralStorage"): Part => ({
    ...{ what: "kubeReserved", field: `${path}.kubeReserved.${resource}`, given: facts.kubeReserved?.[resource] },
    usual: resource === "ephemeralStorage" ? undefined : KUBE_RESERVED[resource],
  });
  const evicting = (signal: "memoryAvailable" | "nodeFSAvailable", usual: string): Part => ({
    ...{ what: "evictionHard", field: `${path}.evictionHard.${signal}`, given: facts[signal], usual },
  });
  const ofMachine = (resource: string) => ({
    else: `${at}.machine.type`,
    of: `of ${resource} that machine type ${pool.machine.type} has`,
    remedy: "set less, or choose another machine type",
  });
  const ofDisk = { else: `${at}.volume`, of: "of disk that it has", remedy: "set less, or choose a larger volume" };
  const { hard } = memoryThresholds(type?.memory);
  return [
    ...causes({ has: type?.cpu, parts: [reserving("cpu")], ...ofMachine("cpu") }),
    ...causes({
      ...{ has: type?.memory, parts: [reserving("memory"), evicting("memoryAvailable", hard)] },
      ...ofMachine("memory"),
    }),
    ...causes({
      has: facts.disk ?? type?.storage?.size,
      parts: [reserving("ephemeralStorage"), evicting("nodeFSAvailable", HARD_DISK_THRESHOLD)],
      ...ofDisk,
    }),
  ];
}

/** An amount that is kept from pods, as it is given, or as it is by default. */
interface Part {
  readonly what: string;
  readonly field: string;
  readonly given: Amount | undefined;
  readonly usual: string | undefined;
}

/** What a machine has of a resource, what is kept from pods of it, and words for a refusal; `else` is its field where all is by default. */
interface Judged {
  readonly has: Amount | undefined;
  readonly parts: readonly Part[];
  readonly else: string;
  readonly of: string;
  readonly remedy: string;
}

function causes({ has, parts, else: other, of, remedy }: Judged): Cause[] {
  const all = nanosOf(has ?? "");
  const kept = parts.filter(({ given, usual }) => (given ?? usual) !== undefined);
  if (has === undefined || all === undefined || all === 0n || kept.length === 0) return [];
  const sum = kept.reduce((total, { given, usual }) => total + amountOf(given ?? usual ?? 0, all), 0n);
  if (sum < all) return [];
  const words = kept.map(({ what, given, usual }) => `${what} ${given ?? `${usual} (default)`}`).join(" and ");
  const message = `${words} ${kept.length === 1 ? "leaves" : "leave"} pods nothing of the ${has} ${of}: ${remedy}`;
  return [{ field: parts.find(({ given }) => given !== undefined)?.field ?? other, message }];
}

/** Kubelets ignore thresholds of nothing and of everything. */
function amountOf(amount: Amount, all: bigint): bigint {
  const text = String(amount);
  if (!text.endsWith("%")) return nanosOf(text) ?? 0n;
  if (text === "0%" || text === "100%") return 0n;
  return (all * (nanosOf(text.slice(0, -1)) ?? 0n)) / 100_000_000_000n;
}

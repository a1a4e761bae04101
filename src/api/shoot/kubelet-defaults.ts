import { nanosOf } from "../schema/quantity.ts";

/** The share of the disk, in percent, at which kubelets begin and end to remove images, where a Shoot does not say. */
export const IMAGE_GC = { high: 50, low: 40 } as const;

/** What kubelets reserve for themselves and the container runtime, where a Shoot does not say. */
export const KUBE_RESERVED = { cpu: "80m", memory: "1Gi" } as const;

/** The share of disks and inodes below which kubelets evict pods at once, where a Shoot does not say. */
export const HARD_DISK_THRESHOLD = "5%";

/** The free memory below which kubelets of a machine with so much evict pods: a share of little memory, a fixed amount of much. */
export function memoryThresholds(memory: string | number | undefined): {
  readonly hard: string;
  readonly soft: string;
} {
  if (memory === undefined) return { hard: "100Mi", soft: "200Mi" };
  const isMuch = (nanosOf(memory) ?? 0n) > 8n * 1024n ** 3n * 1_000_000_000n;
  return isMuch ? { hard: "1Gi", soft: "1.5Gi" } : { hard: "5%", soft: "10%" };
}

import { isForScheduler } from "../../api/placement/schedule.ts";
import { Shoot } from "../../api/index.ts";
import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { defineKind, typeMeta } from "../../kube/index.ts";

/** What the scheduler remembers of a Shoot: a garden has thousands. */
export interface PlacedShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<Shoot["spec"], "seedName" | "schedulerName">;
  readonly status?: Pick<NonNullable<Shoot["status"]>, "seedName"> | undefined;
}

/** Shoots, of which this is all that is looked at. */
export const PlacedShoot = defineKind<PlacedShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

/** Takes from a Shoot what is to be remembered. */
export function toPlacedShoot({ apiVersion, kind, metadata, spec, status }: PlacedShoot): PlacedShoot {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, generation, deletionTimestamp },
    spec: { seedName: spec.seedName, schedulerName: spec.schedulerName },
    ...(status && { status: { seedName: status.seedName } }),
  };
}

/** Whether it is for us to give the Shoot a Seed: it has none, stays, and asks for no other scheduler. */
export const isPending = ({ metadata, spec }: Pick<PlacedShoot, "metadata" | "spec">): boolean =>
  !spec.seedName && metadata.deletionTimestamp === undefined && isForScheduler({ spec });

/**
 * How many Shoots are on each Seed, or on their way to or from it. `bound` is where Shoots, by their uid, have been put that
 * the watch does not show there yet.
 */
export function countShoots(shoots: readonly PlacedShoot[], bound: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata, spec, status } of shoots) {
    const seeds = new Set([spec.seedName || bound.get(metadata.uid ?? ""), status?.seedName]);
    for (const seed of seeds) if (seed) counts.set(seed, (counts.get(seed) ?? 0) + 1);
  }
  return counts;
}

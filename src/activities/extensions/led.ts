import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";

/** Which seed leads, under which epoch, and where that is recorded. */
export type Leading = Pick<ShootRun, "leadershipRecord" | "leaseSeconds" | "epoch" | "seedName" | "uid">;

/** Writes into an extension object which seed may act on it (GEP-1): the run's, under the run's epoch. */
export function led<T extends KubeObject>(
  object: T,
  { leadershipRecord: record, leaseSeconds, epoch, seedName, uid }: Leading,
): T {
  if (record === undefined) return object;
  return {
    ...object,
    spec: { ...(object["spec"] as object), leadership: { record, value: seedName, leaseSeconds, epoch, shoot: uid } },
  };
}

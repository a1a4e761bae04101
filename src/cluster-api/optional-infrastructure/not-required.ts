import type { Cluster, Condition } from "../../api/cluster-api/index.ts";

/** Whether a Cluster has no infrastructure and will get none of a ClusterClass. */
export function needsNoInfrastructure({ spec }: Pick<Cluster, "spec">): boolean {
  return spec.infrastructureRef === undefined && spec.topology === undefined;
}

/** Whether core has found no words for a Cluster without infrastructure: it says InternalError (seen in 1.14.2). */
export function isAtALoss(conditions: readonly Condition[] = []): boolean {
  return conditions.some(
    ({ type, status, reason }) => type === READY && status === "Unknown" && reason === "InternalError",
  );
}

/**
 * The conditions of a Cluster that needs no infrastructure, as core would write them if it knew that: `InfrastructureReady` is True,
 * and its line is out of `Available`. What is stored keeps the time of its last transition, so that core's next write of the same changes
 * nothing.
 */
export function withoutInfrastructure(
  conditions: readonly Condition[],
  stored: readonly Condition[] = [],
): readonly Condition[] {
  if (!isAtALoss(conditions)) return conditions;
  return conditions.map((condition) => {
    const mended = mend(condition);
    const before = stored.find(({ type }) => type === condition.type);
    const stays = mended !== condition && before?.status === mended.status;
    return stays ? { ...mended, lastTransitionTime: before.lastTransitionTime } : mended;
  });
}

const READY = "InfrastructureReady";

function mend(condition: Condition): Condition {
  if (condition.type === READY) return { ...condition, status: "True", reason: "NotRequired", message: "" };
  if (condition.type !== "Available") return condition;
  const lines = condition.message.split("\n");
  const others = lines.filter((line) => !line.startsWith(`* ${READY}:`));
  if (others.length === lines.length) return condition;
  const message = others.join("\n");
  // Core merges so that Unknown remains while one of the others is.
  if (message !== "" || condition.status !== "Unknown") return { ...condition, message };
  return { ...condition, status: "True", reason: "Available", message };
}

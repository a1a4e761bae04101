import type { Condition } from "../../api/cluster-api/index.ts";
import { now } from "../../kube/index.ts";

/** What a condition is to say; since when follows from the condition that it replaces. */
export type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * The conditions as they are to be written, in the order of `said`: found out for this generation, and since the moment at which the
 * status changed last. Undefined when all say so already.
 */
export function changedConditions(
  present: readonly Condition[] | undefined,
  said: readonly Said[],
  { generation, at = now() }: { readonly generation?: number | undefined; readonly at?: string } = {},
): Condition[] | undefined {
  const wanted = said.map((one): Condition => {
    const before = findCondition(present, one.type);
    const lastTransitionTime = before?.status === one.status ? before.lastTransitionTime : at;
    return { ...one, ...(generation !== undefined && { observedGeneration: generation }), lastTransitionTime };
  });
  return wanted.every((one) => isSaid(findCondition(present, one.type), one)) ? undefined : wanted;
}

/** The condition of a type. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

function isSaid(present: Condition | undefined, wanted: Condition): boolean {
  return (
    present?.status === wanted.status &&
    present.reason === wanted.reason &&
    present.message === wanted.message &&
    present.observedGeneration === wanted.observedGeneration
  );
}

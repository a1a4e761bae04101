import { CANCEL_MIGRATION_ANNOTATION } from "../annotations.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { readTakeover } from "./takeover.ts";

/** The Seed that may act for the Shoot now; undefined before the first operation. */
export function leadingSeed({ status }: Pick<Shoot, "status">): string | undefined {
  return status?.leadership?.seed ?? status?.seedName;
}

/** Whether the Shoot is to go to another Seed which does not lead yet: until it does, the Shoot can be called back. */
export function isLeaving({ spec, status }: Pick<Shoot, "spec" | "status">): boolean {
  const leader = leadingSeed({ status });
  return leader !== undefined && spec.seedName !== undefined && spec.seedName !== leader;
}

/** Whether the Shoot is on its way: from the change of its spec until Restore has succeeded, there or back. */
export function isMoving({ spec, status }: Pick<Shoot, "spec" | "status">): boolean {
  const { type, state } = status?.lastOperation ?? {};
  return isLeaving({ spec, status }) || type === "Migrate" || (type === "Restore" && state !== "Succeeded");
}

/** Whether the Shoot leads where it is wanted and is being restored there: should that Seed die, only another one helps. */
export function isArriving(shoot: Pick<Shoot, "spec" | "status">): boolean {
  return isMoving(shoot) && !isLeaving(shoot);
}

/**
 * Whether the Shoot was called back and is on its way to where it never quite left. What an annotation says counts only
 * for the epoch that the Shoot was about to leave: one that was forgotten takes no Shoot back across a flip.
 */
export function isReturning(shoot: Shoot): boolean {
  if (isLeaving(shoot) || !isMoving(shoot)) return false;
  const { epoch, leaving, previousSeed, takeover } = shoot.status?.leadership ?? {};
  if (previousSeed === undefined) return true;
  const cancelled = shoot.metadata.annotations?.[CANCEL_MIGRATION_ANNOTATION] === "true";
  return leaving === epoch && (cancelled || takeover === true || readTakeover(shoot) === undefined);
}

/** Whether the Shoot's move still needs its old Seed: then that Seed can be taken over from. */
export function needsSource(shoot: Shoot): boolean {
  if (isLeaving(shoot)) return true;
  const { previousSeed, takeover } = shoot.status?.leadership ?? {};
  return isMoving(shoot) && !isReturning(shoot) && previousSeed !== undefined && takeover !== true;
}

/** Which move is under way, and what can be done about it now. */
export function describeMove({ metadata, spec, status }: Shoot): string {
  const leader = leadingSeed({ status });
  if (!isLeaving({ spec, status })) {
    const takeover = `perennial shoot migrate ${metadata.namespace}/${metadata.name} --to SEED --force-takeover --reason TEXT`;
    return `the Shoot is being restored on Seed ${leader}, where there is only forward: wait until Restore has succeeded, or if that Seed is dead: ${takeover}`;
  }
  const cancel = `perennial shoot migrate ${metadata.namespace}/${metadata.name} --cancel`;
  return `the Shoot is moving from Seed ${leader} to Seed ${spec.seedName}: wait until it is there, or call it back: ${cancel}`;
}

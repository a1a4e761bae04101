import type { Shoot } from "../../api/index.ts";
import { isLeaving, isMoving, isReturning, leadingSeed } from "../../api/placement/move.ts";
import type { Migration } from "../../api/shoot/run.ts";
import { readTakeover } from "../../api/placement/takeover.ts";

/** What a Shoot that is on its way between seeds needs next. */
export interface Movement {
  readonly operation: "Migrate" | "Restore";
  readonly migration: Migration;
}

/**
 * Where a Shoot is on its way from seed to seed, told by its spec, its status and nothing else; undefined when it is not
 * moving. A Shoot whose migration was given up goes back the same way that it would have arrived: by Restore.
 */
export function movementOf(shoot: Shoot): Movement | undefined {
  const { seedName } = shoot.spec;
  const leader = leadingSeed(shoot);
  if (leader === undefined || seedName === undefined || shoot.status?.lastOperation?.type === "Delete")
    return undefined;
  if (isLeaving(shoot)) return migrating(leader, seedName, isTakeoverApproved(shoot));
  return isMoving(shoot) ? afterBinding(shoot, leader) : undefined;
}

/** The Shoot leads where it is wanted: it has come from elsewhere, or was about to leave. */
function afterBinding(shoot: Shoot, leader: string): Movement {
  const { previousSeed: source, takeover = false, since } = shoot.status?.leadership ?? {};
  if (source === undefined || isReturning(shoot)) return returning(leader);
  if (isTakeoverApproved(shoot) && !takeover) return migrating(source, leader, true);
  return { operation: "Restore", migration: { source, destination: leader, takeover, ...(since && { since }) } };
}

const migrating = (source: string, destination: string, takeover: boolean): Movement => ({
  operation: "Migrate",
  migration: { source, destination, takeover },
});

/** Whether somebody has approved, in words that can be understood, to move the Shoot without its old seed. */
const isTakeoverApproved = (shoot: Shoot): boolean => readTakeover(shoot) !== undefined;

/**
 * The epoch of the Shoot's next operation. A Shoot that goes back where it was goes under a new one: what its given up
 * migration has begun, and nobody heard of since, must not be taken for its own.
 */
export function epochOf(shoot: Shoot): number {
  const { epoch = 1, leaving } = shoot.status?.leadership ?? {};
  const { source, destination } = movementOf(shoot)?.migration ?? {};
  return source !== undefined && source === destination && leaving === epoch ? epoch + 1 : epoch;
}

const returning = (seedName: string): Movement => ({
  operation: "Restore",
  migration: { source: seedName, destination: seedName, takeover: false },
});

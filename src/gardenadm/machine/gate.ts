import { CliError } from "../../cli/exit.ts";
import { withLock } from "../../in-process/lock.ts";
import { readBegun, unfinished } from "./begun-restore.ts";
import { hasLeft } from "./departure.ts";
import { placesIn } from "./places.ts";

/**
 * Does the work of a command that makes the machine a node, with the machine's lock; `from` is what a restore restores from. Throws a
 * CliError while a reset of it is not done, which would go on later and take the new node for the one that its cluster has let go, or
 * another restore is not; and what `withLock` throws.
 */
export async function unlessOtherwiseBegun<T>(root: string, work: () => Promise<T>, from?: string): Promise<T> {
  return await withLock(placesIn(root).lock, async () => {
    const [fault] = await begunFaults(root, from);
    if (fault !== undefined) throw new CliError("failed", fault);
    return await work();
  });
}

/** Why the machine cannot become a node now: a reset of it was begun, or a restore of another source than this one. */
export async function begunFaults(root: string, from?: string): Promise<readonly string[]> {
  const leaves = await hasLeft(root);
  return [
    ...(leaves ? ["a reset of this machine is not done: run 'gardenadm reset' again"] : []),
    ...(await restoreFaults(root, from)),
  ];
}

/**
 * Why the machine can become nothing else now: a restore was begun on it. None where that is to go on by this source; without one, it is
 * not to go on at all.
 */
async function restoreFaults(root: string, from?: string): Promise<readonly string[]> {
  const begun = await readBegun(root);
  if (begun === undefined || (from !== undefined && (begun.searching === true || begun.from === from))) return [];
  return [unfinished(begun.from)];
}

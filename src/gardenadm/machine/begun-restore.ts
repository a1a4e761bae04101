import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { readIfThere } from "./is-there.ts";

/** A restore that was begun on a machine and is not done. */
export interface BegunRestore {
  /** What it restores from, in the operator's words. */
  readonly from: string;
  /** The etcds whose data were restored: theirs are used, and not restored a second time. */
  readonly restored: readonly string[];
  /** It looks for its source still, and has left nothing on the machine: another one may be given. */
  readonly searching?: true;
}

/** The folder of a restore on the machine whose `/` is this folder; it goes when the restore is done. */
export const restoreFolder = (root: string): string => join(root, "/var/lib/gardenadm/restore");

const file = (root: string): string => join(restoreFolder(root), "begun.json");

/** The restore that is to go on here; undefined where none was begun. */
export async function readBegun(root: string): Promise<BegunRestore | undefined> {
  const text = await readIfThere(file(root));
  return text === undefined ? undefined : (parseJson(text, file(root)) as BegunRestore);
}

/** That a restore from this source is not done, and what helps. */
export function unfinished(from: string): string {
  const reset = "'gardenadm reset --machine-only'";
  const otherwise =
    from === "member" ? `${reset} would take away the data that it has` : `or take away with ${reset} what it has left`;
  return `a restore from ${from} was begun on this machine, and is not done: run the same 'gardenadm restore --from ${from}' again; ${otherwise}`;
}

/** Notes how far the restore is, so that it outlasts a power cut. */
export async function noteBegun(root: string, begun: BegunRestore): Promise<void> {
  await writeWhole(file(root), Buffer.from(`${JSON.stringify(begun)}\n`), 0o600);
}

/** Forgets the restore: it is done. */
export async function forgetBegun(root: string): Promise<void> {
  await rm(restoreFolder(root), { recursive: true, force: true });
}

import { readdir, readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { createRun } from "../../node-agent/commands.ts";
import { passing, removeEmptyFolder } from "../../node-agent/whole-file.ts";
import { OperatorError } from "../steps/fault.ts";

/** Removes all of a folder but what is kept. Mounts of the machine's own stay, empty, and so do the folders that they are in. */
export async function removeBut(folder: string, kept: string): Promise<void> {
  for (const entry of await readdir(folder).catch(() => []))
    if (join(folder, entry) !== kept) await removeWhole(join(folder, entry));
  if (!kept.startsWith(`${folder}/`)) await removeEmptyFolder(folder);
}

/** Something is mounted on a path that is busy, or below it. */
async function removeWhole(path: string): Promise<void> {
  const removed = await rm(path, { recursive: true, force: true }).then(() => true, passing("EBUSY"));
  if (removed === true) return;
  for (const entry of (await readdir(path).catch(passing("ENOTDIR"))) ?? []) await removeWhole(join(path, entry));
  await removeEmptyFolder(path);
}

/**
 * Unmounts all that is mounted below a folder, which is to be removed. Throws an OperatorError where something stays mounted: it may be a
 * volume, whose data would go with the folder.
 */
export async function unmountBelow(folder: string, signal: AbortSignal): Promise<void> {
  const umount = createRun("umount", ["--lazy"], { milliseconds: 10_000 });
  for (const path of (await mountsBelow(folder)).toReversed()) await umount([path], signal).catch(() => "");
  signal.throwIfAborted();
  const left = await mountsBelow(folder);
  if (left.length > 0)
    throw new OperatorError(
      `cannot remove ${folder}: what is mounted at ${left.join(", ")} stays mounted, and the data of a volume would go with the folder; unmount it by hand, then run the command again`,
    );
}

/** The kernel names mounts without links: a disk may be elsewhere, with a link to it in the folder's place. */
async function mountsBelow(folder: string): Promise<string[]> {
  const real = (await realpath(folder).catch(passing("ENOENT"))) ?? folder;
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
  return mounts
    .map(unescaped)
    .filter((path) => path.startsWith(`${real}/`))
    .toSorted();
}

/** The kernel writes blanks and backslashes of a path in octal. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { copyWhole, isFile } from "./whole-file.ts";

/** Where a machine keeps the files of its own whose place those of the agent have taken. */
const FOLDER = "/var/lib/gardener-node-agent/originals";

/** What the machine's users were before. */
const USERS = "/var/lib/gardener-node-agent/users-before";

/** Keeps what the machine itself has at these paths, once; `root` is its `/`. Only for paths at which the agent has written nothing yet. */
export async function keepOriginals(root: string, paths: readonly string[]): Promise<void> {
  await keep(join(root, "/etc/passwd"), join(root, USERS));
  for (const path of paths) await keep(join(root, path), join(root, FOLDER, path));
}

async function keep(file: string, kept: string): Promise<void> {
  if (!(await isFile(file)) || (await isFile(kept))) return;
  await copyWhole(file, kept, (await stat(file)).mode & 0o7777);
}

/** Puts the machine's own files back to where they were. */
export async function restoreOriginals(root: string): Promise<void> {
  const folder = join(root, FOLDER);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const kept = join(entry.parentPath, entry.name);
    const isDraft = /^\..*\.new$/.test(entry.name); // which a kill may have left
    if (entry.isFile() && !isDraft)
      await copyWhole(kept, join(root, kept.slice(folder.length)), (await stat(kept)).mode & 0o7777);
  }
}

/** The file with the users that the machine had before it was a node. */
export const usersBefore = (root: string): string => join(root, USERS);

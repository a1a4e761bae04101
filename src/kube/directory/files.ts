import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes a file whole or not at all, for its owner alone; when this returns, it is on the disk under its name. */
export async function writeDurably(file: string, content: string): Promise<void> {
  await makeFolder(dirname(file));
  const draft = join(dirname(file), `.${randomBytes(8).toString("hex")}${DRAFT}`);
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined); // why it failed says more than why this does
    throw new Error(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  await syncFolder(dirname(file));
}

/** Removes a file; when this returns, that is on the disk. */
export async function removeDurably(file: string): Promise<void> {
  await unlink(file);
  await syncFolder(dirname(file));
}

/** The text of a file; undefined when there is none. */
export function readIfPresent(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch(ifMissing(undefined));
}

/** The entries of a folder that are not hidden, sorted; none when there is no folder, or when it is a file. */
export async function entriesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(ifMissing<string[]>([]));
  return names.filter((name) => !name.startsWith(".")).sort();
}

/** Removes what writers that were killed have left half written, in a folder and all below it. */
export async function removeDrafts(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(ifMissing([]));
  for (const entry of entries)
    if (entry.isFile() && entry.name.startsWith(".") && entry.name.endsWith(DRAFT))
      await rm(join(entry.parentPath, entry.name), { force: true });
}

const DRAFT = ".draft";

/** A new folder is on the disk when its parent is. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ifMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return otherwise;
    throw error;
  };
}

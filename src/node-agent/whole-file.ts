import { access, lstat, mkdir, open, rename, rm, rmdir, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file whole or not at all, with exactly this mode, so that it outlasts a power cut; its folders are made. Nothing
 * reads its draft: it lies in the same folder under a hidden name, which kubelet, systemd and containerd pass over.
 */
export async function writeWhole(file: string, bytes: Buffer, mode: number): Promise<void> {
  await putWhole(file, mode, (draft) => draft.writeFile(bytes));
}

/** As `writeWhole`, with what is in another file. */
export async function copyWhole(source: string, file: string, mode: number): Promise<void> {
  const from = await open(source, "r");
  try {
    await putWhole(file, mode, (draft) => draft.writeFile(from.createReadStream({ autoClose: false })));
  } finally {
    await from.close();
  }
}

/** Removes a file and a draft of it that a kill has left; says nothing where there is none, or a folder by now. */
export async function removeFile(file: string): Promise<void> {
  for (const path of [draftOf(file), file]) {
    const found = await lstat(path).catch(passing("ENOENT", "ENOTDIR"));
    if (found === undefined || found.isDirectory()) continue;
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  }
}

/** Removes a folder if it is empty. */
export async function removeEmptyFolder(folder: string): Promise<void> {
  await rmdir(folder).catch(passing("ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST", "EBUSY"));
}

/** Whether there is anything at the path, by links, too. What cannot be looked at is not missing: throws why it cannot. */
export async function exists(path: string): Promise<boolean> {
  const found = await access(path).then(() => true, passing("ENOENT", "ENOTDIR"));
  return found ?? false;
}

/** Whether there is a file of its own at the path: no folder and no link. */
export async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(passing("ENOENT", "ENOTDIR")))?.isFile() ?? false;
}

async function putWhole(file: string, mode: number, fill: (draft: FileHandle) => Promise<void>): Promise<void> {
  await makeFolder(dirname(file));
  const draft = draftOf(file);
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await fill(handle);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncFolder(dirname(file));
}

const draftOf = (file: string): string => join(dirname(file), `.${basename(file)}.new`);

/** Makes a folder, with those above it, so that it outlasts a power cut: one that is not yet in the folder above it on disk would take its files along. */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const first = await mkdir(folder, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** Has the names in a folder on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Lets errors of these codes pass, as undefined; throws all others. */
export function passing(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return undefined;
  };
}

import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { refuseRunning } from "./in-use.ts";
import { asidePath, markData, type DataPlace } from "./place.ts";

/** What became of the data that was there. */
export interface Replaced {
  /** Where it is now; undefined where there was none. */
  readonly aside?: string;
}

/**
 * Puts another data directory in the place of an etcd's, which is stopped. `build` makes it in a folder that is not there yet;
 * only when it is whole and on the disk, the old one is put aside and the new one gets its name. Killed anywhere, it leaves the
 * old data, or none at all with the mark that there was some, or the new; begun again, it ends well. When `build` fails, nothing
 * has changed.
 */
export async function replaceData(
  place: DataPlace,
  build: (folder: string) => Promise<void>,
  now: () => number = Date.now,
): Promise<Replaced> {
  const { dataDir } = place;
  await refuseRunning(dataDir);
  const folder = dirname(dataDir);
  const draft = `${dataDir}.new`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  try {
    await build(draft);
    await syncTree(draft);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  await markData(place);
  const aside = await putAside(dataDir, asidePath(place, now()));
  await rename(draft, dataDir);
  await syncOne(folder);
  return aside === undefined ? {} : { aside };
}

async function putAside(dataDir: string, aside: string): Promise<string | undefined> {
  try {
    await rename(dataDir, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  await syncOne(dirname(dataDir));
  return aside;
}

async function syncTree(path: string): Promise<void> {
  if ((await stat(path)).isDirectory()) for (const entry of await readdir(path)) await syncTree(join(path, entry));
  await syncOne(path);
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

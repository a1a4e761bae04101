import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists } from "../node-agent/whole-file.ts";
import { refuseRunning } from "./in-use.ts";
import { letStart } from "./let-start.ts";
import { asidePath, markData, type DataPlace } from "./place.ts";

/** What became of the data that was there. */
export interface Replaced {
  /** Where it is now; undefined where there was none. */
  readonly aside?: string;
}

/** Old data that are about to make room for new ones. */
export interface Exchange {
  /** Where the old ones will be; undefined where there are none. */
  readonly aside?: string;
  /** Where the new ones are until then. */
  readonly whole?: string;
}

/** What new data are made of, by which they are called until they have the place of the old: `new.etcd.of-snapshot`. */
export type Origin = "snapshot" | "survivor";

/** How data are replaced. */
export interface Replacement {
  readonly origin?: Origin;
  /** Told before: what it throws keeps the old data where they are. */
  readonly foretell?: (exchange: Exchange) => Promise<void>;
  readonly now?: () => number;
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
  { origin = "snapshot", foretell, now = Date.now }: Replacement = {},
): Promise<Replaced> {
  const { dataDir } = place;
  await refuseRunning(dataDir);
  const [draft, whole] = [`${dataDir}.new`, wholeOf(place, origin)];
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o700 });
  for (const folder of [draft, whole]) await rm(folder, { recursive: true, force: true });
  try {
    await build(draft);
    await letStart(draft);
    await syncTree(draft);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  await rename(draft, whole);
  await markData(place);
  const replaced = (await exists(dataDir)) ? { aside: asidePath(place, now()) } : {};
  await foretell?.({ ...replaced, whole });
  if (replaced.aside !== undefined) await putAside(dataDir, replaced.aside);
  await takePlace(place, origin);
  return replaced;
}

/** Whether a replacement was killed when its data were whole, and the old ones had gone. What they were made of may have gone with these. */
export async function isCutOff(place: DataPlace, origin: Origin): Promise<boolean> {
  return (await exists(wholeOf(place, origin))) && !(await exists(place.dataDir));
}

/** Ends a replacement that was cut off. */
export async function takePlace(place: DataPlace, origin: Origin): Promise<void> {
  await rename(wholeOf(place, origin), place.dataDir);
  await syncOne(dirname(place.dataDir));
}

const wholeOf = ({ dataDir }: DataPlace, origin: Origin): string => `${dataDir}.of-${origin}`;

async function putAside(dataDir: string, aside: string): Promise<void> {
  await rename(dataDir, aside);
  await syncOne(dirname(dataDir));
}

async function syncTree(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return;
  if (found.isDirectory()) for (const entry of await readdir(path)) await syncTree(join(path, entry));
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

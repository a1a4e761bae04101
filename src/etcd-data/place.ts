import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { dataVolume } from "../components/etcd/settings.ts";
import type { EtcdRole } from "../components/index.ts";
import { isFile, writeWhole } from "../node-agent/whole-file.ts";

/** Where a machine has the data of one of its etcds. */
export interface DataPlace {
  /** etcd's data directory. What is made for it, and what is put aside, lies beside it. */
  readonly dataDir: string;
  /** A file outside of the volume, which says that there was data. */
  readonly mark: string;
}

/** The places of an etcd that is a static pod on the machine whose `/` is this folder. */
export function dataPlaceOf(role: EtcdRole, root = "/"): DataPlace {
  const folder = join(root, `/var/lib/etcd-${role}`);
  return { dataDir: join(folder, "data", basename(dataVolume.directory)), mark: join(folder, "has-data") };
}

/**
 * Notes, so that it outlasts a power cut, that the etcd has data here, and whether on a disk of its own: without its folder, an etcd would
 * begin an empty, healthy cluster of its own. Written when a member is healthy; what says the same already is left alone.
 */
export async function markData(place: DataPlace): Promise<void> {
  const { dataDir, mark } = place;
  const mounted = (await isMounted(place)) ? MOUNTED : "";
  const text = `${basename(dirname(mark))} has data in ${dataDir}${mounted}\n`;
  if ((await readMark(place)) !== text) await writeWhole(mark, Buffer.from(text), 0o600);
}

const MOUNTED = ", on a disk that is mounted";

/** Whether the data were on a disk of their own that is not mounted now: nothing can be said of them. */
export const isUnmounted = async (place: DataPlace): Promise<boolean> =>
  (await readMark(place)).includes(MOUNTED) && !(await isMounted(place));

const readMark = async ({ mark }: DataPlace): Promise<string> => await readFile(mark, "utf8").catch(() => "");

/** By the device, which a folder that nothing is mounted on shares with the one that it is in. */
async function isMounted({ dataDir, mark }: DataPlace): Promise<boolean> {
  const deviceOf = async (folder: string) => (await stat(folder).catch(() => undefined))?.dev;
  const device = await deviceOf(dirname(dataDir));
  return device !== undefined && device !== (await deviceOf(dirname(mark)));
}

/** Where data go that are put aside at this time, in ms since 1970: beside the others, as `new.etcd.2026-11-25T18-59-01.123Z`. */
export const asidePath = ({ dataDir }: DataPlace, time: number): string =>
  `${dataDir}.${new Date(time).toISOString().replaceAll(":", "-")}`;

/** Whether there was data here. */
export const isMarked = ({ mark }: DataPlace): Promise<boolean> => isFile(mark);

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
 * Notes, so that it outlasts a power cut, that the etcd has data here: without its folder, an etcd would begin an empty, healthy
 * cluster of its own. Written when a member is healthy for the first time; the file of one that has it is left alone.
 */
export async function markData({ dataDir, mark }: DataPlace): Promise<void> {
  if (await isFile(mark)) return;
  await writeWhole(mark, Buffer.from(`${basename(dirname(mark))} has data in ${dataDir}\n`), 0o600);
}

/** Where data go that are put aside at this time, in ms since 1970: beside the others, as `new.etcd.2026-11-25T18-59-01.123Z`. */
export const asidePath = ({ dataDir }: DataPlace, time: number): string =>
  `${dataDir}.${new Date(time).toISOString().replaceAll(":", "-")}`;

/** Whether there was data here. */
export const isMarked = ({ mark }: DataPlace): Promise<boolean> => isFile(mark);

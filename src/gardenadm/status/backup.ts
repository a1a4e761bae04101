import { join } from "node:path";
import { findSnapshots } from "../../etcd-data/snapshots.ts";
import { openStore } from "../../etcd-data/store.ts";
import type { KubeClient } from "../../kube/index.ts";
import { askBackupAccess } from "../cluster/backup-access.ts";
import { readBackupAccess } from "../machine/backup-access.ts";

/** The backups of a cluster that asks for some. */
export interface BackupReport {
  /** The newest that was read and compared before it got its name; absent where there is none, or the store does not answer. */
  readonly last?: { readonly name: string; readonly takenAt: string; readonly size: number };
  /** Why nothing can be said. */
  readonly reason?: string;
}

/** Looks into the store until a deadline; undefined where this machine knows of no backup that is asked for. */
export async function readBackup(
  root: string,
  client: KubeClient | undefined,
  deadline: AbortSignal,
): Promise<BackupReport | undefined> {
  const place = (await readBackupAccess(root)) ?? (client && (await askBackupAccess(client).catch(() => undefined)));
  if (place === undefined) return undefined;
  try {
    const store = openStore(place, join(root, "/opt/bin/rclone"));
    const [newest] = await findSnapshots(store, { uid: place.uid, signal: deadline });
    if (newest === undefined) return {};
    const { name, at, size } = newest;
    return { last: { name, takenAt: new Date(at).toISOString(), size } };
  } catch (error) {
    return { reason: deadline.aborted ? "the store does not answer in time" : (error as Error).message };
  }
}

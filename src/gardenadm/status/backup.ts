import { join } from "node:path";
import { BACKUP_PLACE, backupSettings } from "../../components/index.ts";
import { findSnapshots } from "../../etcd-data/snapshots.ts";
import { openStore } from "../../etcd-data/store.ts";
import { decodeData, Secret, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE, readMade } from "../cluster/control-plane.ts";
import { readBackupAccess, type BackupAccess } from "../machine/backup-access.ts";

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
  const place = (await readBackupAccess(root)) ?? (client && (await placeOf(client).catch(() => undefined)));
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

/** As the cluster knows it; undefined where no backup is asked for. */
async function placeOf(client: KubeClient): Promise<BackupAccess | undefined> {
  const { shoot } = await readMade(client);
  const provider = backupSettings({ shoot, nodes: [] })?.provider;
  if (provider === undefined) return undefined;
  const { data = {} } = (await client.read(Secret, { namespace: NAMESPACE, name: BACKUP_PLACE })) ?? {};
  return { provider, secret: decodeData(data), uid: shoot.metadata.uid ?? "" };
}

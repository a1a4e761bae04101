import { join } from "node:path";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import { findSnapshots } from "../../etcd-data/snapshots.ts";
import { openStore } from "../../etcd-data/store.ts";
import type { KubeClient } from "../../kube/index.ts";
import { askBackupAccess } from "../cluster/backup-access.ts";
import { shootAtHand } from "../cluster/shoot-at-hand.ts";
import { readBackupAccess } from "../machine/backup-access.ts";

/** The backups of a cluster that asks for some. */
export interface BackupReport {
  /** The newest that was read and compared before it got its name; absent where there is none, or the store does not answer. */
  readonly last?: { readonly name: string; readonly takenAt: string; readonly size: number };
  /** Why nothing can be said. */
  readonly reason?: string;
  /** Why this machine cannot say it, of which nothing is wrong. */
  readonly unknown?: string;
}

/** Where what a worker cannot see is said. */
export const ELSEWHERE = "'gardenadm status' on a node of the control plane says it";

/** What a worker may know, by the client of its agent: whether a backup is asked for, and not where it is. */
export async function readBackupOfWorker(client: KubeClient | undefined): Promise<BackupReport | undefined> {
  const shoot = client && (await shootAtHand(client).catch(() => undefined));
  if (shoot !== undefined && controlPlanePools(shoot)[0]?.controlPlane?.backup === undefined) return undefined;
  return { unknown: ELSEWHERE };
}

/** Looks into the store until a deadline; undefined where no backup is asked for. */
export async function readBackup(
  root: string,
  client: KubeClient | undefined,
  deadline: AbortSignal,
): Promise<BackupReport | undefined> {
  const known = await readBackupAccess(root);
  if (known === undefined && client === undefined) return { unknown: ONLY_BY_SERVER };
  try {
    const place = known ?? (client && (await askBackupAccess(client)));
    if (place === undefined || place === "none") return undefined;
    const store = openStore(place, join(root, "/opt/bin/rclone"));
    const [newest] = await findSnapshots(store, { uid: place.uid, signal: deadline });
    if (newest === undefined) return {};
    const { name, at, size } = newest;
    return { last: { name, takenAt: new Date(at).toISOString(), size } };
  } catch (error) {
    return { reason: deadline.aborted ? "the store does not answer in time" : (error as Error).message };
  }
}

const ONLY_BY_SERVER =
  "no store is noted on this machine, and the API server, which says whether one is asked for, does not answer";

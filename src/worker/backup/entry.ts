import { GARDEN_NAMESPACE } from "../../activities/backup/credentials.ts";
import { CONFIRM_DELETION_ANNOTATION, SHOOT_GONE_ANNOTATION } from "../../api/annotations.ts";
import { BackupEntry, ExtensionBackupEntry, Shoot } from "../../api/index.ts";
import { isNotFound, refOf, refTo, Secret, type KubeClient, type NamespacedKey } from "../../kube/index.ts";
import { letGo, mirrorStatus } from "./mirroring.ts";

/** Both clusters that have BackupEntries; `now` is the time in ms since the epoch. */
export interface BackupEntryKeeperDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  /** In ms: how long the backups of a Shoot outlive it. */
  readonly grace: number;
  readonly now?: () => number;
}

/**
 * Tells the garden how the Shoots' BackupEntries fare, and takes away those of Shoots that are gone, once their grace
 * period is over. An entry that is deleted while its Shoot exists keeps its backups for as long as the Shoot exists.
 */
export function createBackupEntryKeeper({
  gardenClient,
  seedClient,
  seedName,
  grace,
  now = Date.now,
}: BackupEntryKeeperDeps) {
  /** When its Shoot was first seen to be gone, in ms; the entry may have been deleted long before. */
  const goneSince = async (entry: BackupEntry): Promise<number> => {
    const seen = Date.parse(entry.metadata.annotations?.[SHOOT_GONE_ANNOTATION] ?? "");
    if (!Number.isNaN(seen)) return seen;
    const time = now();
    const annotations = { [SHOOT_GONE_ANNOTATION]: new Date(time).toISOString() };
    await gardenClient.patch(refOf(entry), { metadata: { uid: entry.metadata.uid, annotations } });
    return time;
  };

  const remove = async (entry: BackupEntry, provided: ExtensionBackupEntry | undefined) => {
    if (await hasShoot(gardenClient, entry)) return { requeueAfter: AGAIN };
    // The record of who leads goes with the Shoot, and without it the provider would not act. No other seed acts either.
    if (provided?.spec.leadership) await disown(seedClient, provided);
    const remaining = (await goneSince(entry)) + grace - now();
    if (remaining > 0) return { requeueAfter: Math.min(remaining, LONGEST) };
    if (provided === undefined) {
      const name = `entry-${entry.metadata.name}`;
      await seedClient.remove(refTo(Secret, { name, namespace: GARDEN_NAMESPACE }));
      return await letGo(gardenClient, entry);
    }
    await seedClient.patch(refOf(provided), { metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } });
    await seedClient.remove(refOf(provided));
    return { requeueAfter: AGAIN };
  };

  return {
    /** One look at a BackupEntry of the garden; those of other seeds are none of this one's business. */
    async reconcile(key: NamespacedKey): Promise<void | { requeueAfter: number }> {
      const ref = refTo(BackupEntry, key);
      const entry = await gardenClient.read(ref);
      if (entry?.spec.seedName !== seedName) return;
      const provided = await seedClient.read(providerOf(key.name));
      await mirrorStatus(gardenClient, ref, provided, { seedName });
      if (entry.metadata.deletionTimestamp !== undefined) return await remove(entry, provided);
    },
  };
}

/** In ms: when the result of another controller is looked for again. */
const AGAIN = 10_000;

/** In ms: the longest time without a look. */
const LONGEST = 3_600_000;

const providerOf = (name: string) => refTo(ExtensionBackupEntry, { name });

/** Whether the very Shoot that the entry belongs to exists: the entry's name ends with its uid. */
async function hasShoot(gardenClient: KubeClient, { metadata, spec }: BackupEntry): Promise<boolean> {
  const { name, namespace = metadata.namespace } = spec.shootRef ?? {};
  if (name === undefined) return false;
  const { uid } = (await gardenClient.read(Shoot, { namespace, name }))?.metadata ?? {};
  return uid !== undefined && metadata.name.endsWith(`--${uid}`);
}

async function disown(seedClient: KubeClient, entry: ExtensionBackupEntry): Promise<void> {
  try {
    await seedClient.patch(refOf(entry), { spec: { leadership: null } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

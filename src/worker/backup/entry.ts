import { CONFIRM_DELETION_ANNOTATION, LEADERSHIP_ANNOTATION, SHOOT_GONE_ANNOTATION } from "../../api/annotations.ts";
import { backupEntrySecretName, GARDEN_NAMESPACE } from "../../api/names.ts";
import { leadershipOf } from "../../api/extensions/leadership.ts";
import { shootUidOfBackupEntry, technicalIdOf } from "../../api/extensions/backup-entry.ts";
import { BackupEntry, ExtensionBackupEntry, Shoot } from "../../api/index.ts";
import {
  unlessGone,
  Namespace,
  refOf,
  refTo,
  Secret,
  unlessForbidden,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
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
 * period is over: the manager writes onto an entry since when its Shoot is gone. An entry that is deleted while its
 * Shoot exists keeps its backups for as long as the Shoot exists.
 */
export function createBackupEntryKeeper({
  gardenClient,
  seedClient,
  seedName,
  grace,
  now = Date.now,
}: BackupEntryKeeperDeps) {
  const remove = async (entry: BackupEntry, provided: ExtensionBackupEntry | undefined) => {
    const goneSince = Date.parse(entry.metadata.annotations?.[SHOOT_GONE_ANNOTATION] ?? "");
    if (Number.isNaN(goneSince) || (await hasShoot(gardenClient, entry))) return { requeueAfter: AGAIN };
    // The record of who leads goes with the Shoot, and without it the provider would not act. No other seed acts either.
    if (provided !== undefined && leadershipOf(provided) !== undefined) await disown(seedClient, provided);
    const remaining = goneSince + grace - now();
    if (remaining > 0) return { requeueAfter: Math.min(remaining, LONGEST) };
    if (provided === undefined) {
      await letGo(gardenClient, entry);
      // Last of all: it is by this Secret that the worker knows of the entry.
      const name = backupEntrySecretName(entry.metadata.name);
      return await seedClient.remove(refTo(Secret, { name, namespace: GARDEN_NAMESPACE }));
    }
    await seedClient.patch(refOf(provided), { metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } });
    await seedClient.remove(refOf(provided));
    return { requeueAfter: AGAIN };
  };

  return {
    /** One look at a BackupEntry of the garden; those of other seeds are none of this one's business. */
    async reconcile(key: NamespacedKey): Promise<void | { requeueAfter: number }> {
      const ref = refTo(BackupEntry, key);
      const entry = await gardenClient.read(ref).catch(unlessForbidden);
      if (entry?.spec.seedName !== seedName) return;
      const provided = await seedClient.read(providerOf(key.name));
      await mirrorStatus(gardenClient, ref, provided, { seedName });
      if (entry.metadata.deletionTimestamp !== undefined) return await remove(entry, provided);
      const namespace = await seedClient.read(Namespace, { name: technicalIdOf(key.name) });
      return { requeueAfter: namespace === undefined ? AGAIN : RESYNC };
    },
  };
}

/** Whether this seed sees the very Shoot of the entry: then the entry was marked by mistake, and its backups are those of a living Shoot. */
async function hasShoot(
  gardenClient: KubeClient,
  { metadata: { name, namespace }, spec }: BackupEntry,
): Promise<boolean> {
  const shootName = spec.shootRef?.name;
  if (!shootName) return false;
  const shoot = await gardenClient.read(Shoot, { namespace, name: shootName }).catch(unlessForbidden);
  return shoot !== undefined && shoot.metadata.uid === shootUidOfBackupEntry(name);
}

/** In ms: when the result of another controller is looked for again. */
const AGAIN = 10_000;

/** In ms: while the Shoot is there, its entry may be deleted in the garden without anything changing in the seed. */
const RESYNC = 600_000;

/** In ms: the longest time without a look. */
const LONGEST = 3_600_000;

const providerOf = (name: string) => refTo(ExtensionBackupEntry, { name });

async function disown(seedClient: KubeClient, entry: ExtensionBackupEntry): Promise<void> {
  const metadata = { annotations: { [LEADERSHIP_ANNOTATION]: null } };
  await unlessGone(seedClient.patch(refOf(entry), { metadata, spec: { leadership: null } }));
}

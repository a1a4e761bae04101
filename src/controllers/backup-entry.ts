import { SHOOT_GONE_ANNOTATION } from "../api/annotations.ts";
import { shootUidOfBackupEntry } from "../api/extensions/backup-entry.ts";
import { BackupEntry, Shoot } from "../api/index.ts";
import { createObjectController, refOf, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { knownEntry } from "./known-backups.ts";

/** The garden; `period` is ms, ten seconds unless told otherwise. */
export interface BackupEntryControllerDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly period?: number;
}

/**
 * Writes onto each BackupEntry that is being deleted since when its Shoot is gone. Its seed waits for that: a seed may
 * read nothing of a Shoot that is gone, so it cannot tell that from a Shoot that another seed has.
 */
export function createBackupEntryController({ gardenClient, log, period = 10_000 }: BackupEntryControllerDeps) {
  return createObjectController({
    name: "backup-entry",
    client: gardenClient,
    kind: BackupEntry,
    keep: knownEntry,
    log,
    async reconcile(entry) {
      if (entry.metadata.deletionTimestamp === undefined || isMarked(entry)) return undefined;
      if (await hasShoot(gardenClient, entry)) return { requeueAfter: period };
      const { uid } = entry.metadata;
      const annotations = { [SHOOT_GONE_ANNOTATION]: new Date().toISOString() };
      await gardenClient.patch(refOf(entry), { metadata: { uid, annotations } });
      return undefined;
    },
  });
}

const isMarked = ({ metadata }: BackupEntry): boolean => SHOOT_GONE_ANNOTATION in (metadata.annotations ?? {});

/**
 * Whether the very Shoot that the entry belongs to exists, by the uid in the entry's name, which stays. The seed that keeps the entry
 * could write another name into `spec.shootRef`, and the next seed would delete the backups of a living Shoot.
 */
async function hasShoot(gardenClient: KubeClient, { metadata: { name, namespace } }: BackupEntry): Promise<boolean> {
  const uid = shootUidOfBackupEntry(name);
  for await (const { metadata } of gardenClient.metadata(Shoot, { namespace })) if (metadata.uid === uid) return true;
  return false;
}

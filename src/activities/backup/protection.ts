import { KEPT_SNAPSHOTS_ANNOTATION } from "../../api/annotations.ts";
import { ExtensionBackupEntry } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { findObjectStore } from "../../api/object-stores.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import { KEPT_SNAPSHOTS } from "../../components/index.ts";
import { refTo, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { SnapshotOwner, SnapshotRecords } from "./record.ts";

/** `seedClient` is the owner's fenced client. */
export interface ProtectionDeps {
  readonly seedClient: KubeClient;
  readonly records: Pick<SnapshotRecords, "latest">;
}

/**
 * Has the Shoot's BackupEntry in the seed say that its provider is to keep the file that is recorded, and this one beside
 * it, if there is one that is about to be. However long nothing can be recorded after that, and whatever else is
 * written meanwhile, a takeover finds what it looks for.
 */
export async function protectSnapshots(
  { seedClient, records }: ProtectionDeps,
  owner: SnapshotOwner,
  fresh?: string,
): Promise<void> {
  const name = backupEntryName(owner.technicalID, owner.uid);
  const ref = refTo(ExtensionBackupEntry, { name });
  const entry = await seedClient.read(ref);
  if (entry === undefined) throw new StepError(`BackupEntry ${name} does not exist: it says which snapshots are kept`);
  const before = (entry.metadata.annotations?.[KEPT_SNAPSHOTS_ANNOTATION] ?? "").split(",");
  const names = [fresh, await readRecorded(records, owner), ...before].filter(Boolean);
  // A schedule and a flow may record at once: neither forgets what the other protects.
  const kept = [...new Set(names)].slice(0, MOST).join(",");
  if (kept === before.join(",")) return;
  if (findObjectStore(entry.spec.type) !== undefined) await tellPods(seedClient, owner, kept);
  const annotations = { [KEPT_SNAPSHOTS_ANNOTATION]: kept };
  await seedClient.patch(ref, { metadata: { uid: entry.metadata.uid, annotations } });
}

const MOST = 3;

/** In an object store, the pods themselves take old snapshots away: they read there which ones they leave. */
async function tellPods(
  seedClient: KubeClient,
  { technicalID: namespace }: SnapshotOwner,
  kept: string,
): Promise<void> {
  const { name, key } = KEPT_SNAPSHOTS;
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { [key]: kept } };
  await seedClient.apply<KubeObject>(map);
}

/** Undefined when the record cannot be opened: it names no file then. */
async function readRecorded(
  records: Pick<SnapshotRecords, "latest">,
  owner: SnapshotOwner,
): Promise<string | undefined> {
  try {
    return (await records.latest(owner))?.name;
  } catch (error) {
    if (error instanceof StepError) return undefined;
    throw error;
  }
}

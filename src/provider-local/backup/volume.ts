import { SHOOT_UID_ANNOTATION } from "../../api/annotations.ts";
import { shootUidOfBackupEntry } from "../../api/extensions/backup-entry.ts";
import { ExtensionBackupEntry, type KubeObject } from "../../api/index.ts";
import type { ActuatorContext } from "../../extension/index.ts";
import {
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  refOf,
  refTo,
  typeMeta,
  type KubeClient,
} from "../../kube/index.ts";

/** What flows call the claim through which they reach a Shoot's backups. */
const CLAIM = "etcd-backup";

/**
 * Lets the Shoot's namespace reach a directory through the claim `etcd-backup`. Without a namespace there is no pod that
 * could reach it, and the namespace of a later Shoot of the same name is left to that Shoot's own entry. The volume belongs to the entry and goes with it, wherever it was left; the directory stays.
 */
export async function claimBackups(
  { metadata: { name, uid = "" } }: ExtensionBackupEntry,
  path: string,
  { client, log }: Pick<ActuatorContext, "client" | "log">,
): Promise<void> {
  const namespace = namespaceOf(name);
  const home = await client.read(Namespace, { name: namespace });
  if (home === undefined || home.metadata.deletionTimestamp !== undefined) {
    log.debug("backups are not claimed: there is no namespace");
    return;
  }
  const living = home.metadata.annotations?.[SHOOT_UID_ANNOTATION];
  if (living !== undefined && living !== shootUidOfBackupEntry(name)) {
    log.debug({ shoot: living }, "backups are not claimed: the namespace is that of a later Shoot of this name");
    return;
  }
  const owner = { ...typeMeta(ExtensionBackupEntry), name, uid };
  await forgetFormerClaim(client, name);
  await client.apply(volume({ entry: name, namespace, path, owner }));
  await client.apply(claim(name, namespace));
}

/**
 * Deletes the entry's claim and volume; they are gone only when no pod uses them any more. A claim of another entry is left
 * alone: once a Shoot is gone, another one of its name may have the same namespace.
 */
export async function releaseBackups(entry: string, { client }: Pick<ActuatorContext, "client">): Promise<void> {
  const claimed = await client.read(PersistentVolumeClaim, { namespace: namespaceOf(entry), name: CLAIM });
  if (claimed?.spec.volumeName === volumeName(entry)) {
    const { uid } = claimed.metadata;
    await client.remove(refOf(claimed), uid === undefined ? {} : { uid });
  }
  await client.remove(refTo(PersistentVolume, { name: volumeName(entry) }));
  const left = await client.read(PersistentVolume, { name: volumeName(entry) });
  if (left) throw new Error(`volume ${volumeName(entry)} is still in use`);
}

/** Names of entries are `<namespace>--<uid of the Shoot>`. */
function namespaceOf(entry: string): string {
  return entry.slice(0, entry.lastIndexOf("--"));
}

const volumeName = (entry: string): string => `backup-${entry}`;

type OwnerReference = NonNullable<KubeObject["metadata"]["ownerReferences"]>[number];

/** A volume whose claim went with its namespace takes another only once it has forgotten the first. */
async function forgetFormerClaim(client: KubeClient, entry: string): Promise<void> {
  const existing = await client.read(PersistentVolume, { name: volumeName(entry) });
  if (existing?.status?.phase !== "Released") return;
  await client.patch(refOf(existing), { spec: { claimRef: { uid: null, resourceVersion: null } } });
}

function volume(o: { entry: string; namespace: string; path: string; owner: OwnerReference }): KubeObject {
  return {
    ...typeMeta(PersistentVolume),
    metadata: { name: volumeName(o.entry), ownerReferences: [o.owner] },
    spec: {
      capacity: { storage: CAPACITY },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      persistentVolumeReclaimPolicy: "Retain",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: o.namespace, name: CLAIM },
      hostPath: { path: o.path, type: "Directory" },
    },
  };
}

function claim(entry: string, namespace: string): KubeObject {
  return {
    ...typeMeta(PersistentVolumeClaim),
    metadata: { name: CLAIM, namespace },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      volumeName: volumeName(entry),
      resources: { requests: { storage: CAPACITY } },
    },
  };
}

/** No limit is enforced: a directory has the room that its disk has. */
const CAPACITY = "100Gi";

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { counted } from "../../api/counted.ts";
import { backupBucketSecretName, GARDEN_NAMESPACE, GARDENER_FINALIZER } from "../../api/names.ts";
import { deployBackupCredentials, readBackupCredentials } from "../../activities/backup/credentials.ts";
import { BACKUP_BUCKET_LABEL } from "../../api/labels.ts";
import {
  CHECKSUM_ANNOTATION,
  CONFIRM_DELETION_ANNOTATION,
  OPERATION_ANNOTATION,
  TIMESTAMP_ANNOTATION,
} from "../../api/annotations.ts";
import { BackupBucket, ExtensionBackupBucket, ExtensionBackupEntry, Seed } from "../../api/index.ts";
import { refOf, refTo, Secret, typeMeta, unlessForbidden, type ClusterKey, type KubeClient } from "../../kube/index.ts";
import { keepGenerated, letGo, mirrorStatus } from "./mirroring.ts";

/** The garden that has the bucket, and the seed whose provider makes it. */
export interface BackupBucketDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
}

/**
 * Keeps the bucket that the Seed asks for, under the Seed's uid: a BackupBucket in the garden for people, one in the seed
 * for its provider. It is the Seed's and deleted with it, by Kubernetes, but held until no entry is left in it.
 */
export function createBackupBucketKeeper({ gardenClient, seedClient, seedName }: BackupBucketDeps) {
  const ensure = async (owner: Seed, bucket: BackupBucket, before: BackupBucket | undefined) => {
    const same = isDeepStrictEqual(before?.spec, bucket.spec) && isHeld(before) && isOwned(before);
    if (!same) await gardenClient.apply(bucket);
    const data = await readBackupCredentials(gardenClient, owner);
    const name = bucket.metadata.name;
    await deployBackupCredentials(seedClient, backupBucketSecretName(name), data, { [BACKUP_BUCKET_LABEL]: name });
    const { provider, providerConfig } = bucket.spec;
    const wanted = {
      ...typeMeta(ExtensionBackupBucket),
      metadata: { name },
      spec: {
        type: provider.type,
        region: provider.region,
        secretRef: { name: backupBucketSecretName(name), namespace: GARDEN_NAMESPACE },
        ...(providerConfig === undefined ? {} : { providerConfig }),
      },
    };
    const existing = await seedClient.read(providerOf(name));
    // What its provider has answered meanwhile is not asked again: it is another version then.
    const { resourceVersion } = existing?.metadata ?? {};
    const annotations = requestFor(existing, [wanted.spec, data]);
    await seedClient.apply({ ...wanted, metadata: { name, annotations, ...(resourceVersion && { resourceVersion }) } });
    const generated = before && (await keepGenerated({ gardenClient, seedClient, bucket: before, provided: existing }));
    await mirrorStatus(gardenClient, refOf(bucket), existing, generated);
    return { requeueAfter: RESYNC };
  };

  /** The bucket of the Seed as it is now. One that is being deleted goes first; there may be others, of Seeds before it. */
  const keep = async (owner: Seed | undefined, buckets: readonly BackupBucket[]) => {
    const { uid, deletionTimestamp } = owner?.metadata ?? {};
    const backup = owner?.spec.backup;
    if (owner === undefined || deletionTimestamp !== undefined || backup === undefined) return;
    const existing = buckets.find(({ metadata }) => metadata.name === uid);
    if (existing !== undefined && isLeaving(existing)) return;
    return await ensure(owner, bucketOf(owner, backup), existing);
  };

  /** The garden's part of the Seed's bucket, and of all whose credentials the seed has; it may not list those of others. */
  const readOwn = async (owner: Seed | undefined): Promise<BackupBucket[]> => {
    const credentials = { namespace: GARDEN_NAMESPACE, labelSelector: BACKUP_BUCKET_LABEL };
    const known = (await seedClient.list(Secret, credentials)).map(
      ({ metadata }) => metadata.labels?.[BACKUP_BUCKET_LABEL],
    );
    const names = new Set([owner?.metadata.uid, ...known].filter((name) => name !== undefined));
    const read = [...names].map((name) => gardenClient.read(BackupBucket, { name }).catch(unlessForbidden));
    return (await Promise.all(read)).filter((bucket) => bucket?.spec.seedName === seedName) as BackupBucket[];
  };

  const remove = async (bucket: BackupBucket) => {
    const { name } = bucket.metadata;
    const entries = await seedClient.list(ExtensionBackupEntry);
    const used = entries.filter(({ spec }) => spec.bucketName === name).length;
    if (used > 0)
      throw new Error(
        `cannot delete BackupBucket ${name}: ${counted(used, "BackupEntry is", "BackupEntries are")} in it`,
      );
    const existing = await seedClient.read(providerOf(name));
    await mirrorStatus(gardenClient, refOf(bucket), existing);
    if (existing === undefined) {
      await letGo(gardenClient, bucket);
      // Last of all: it is by this Secret that the worker knows of the bucket.
      return await seedClient.remove(
        refTo(Secret, { name: backupBucketSecretName(name), namespace: GARDEN_NAMESPACE }),
      );
    }
    const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true" };
    await seedClient.patch(providerOf(name), { metadata: { annotations } });
    await seedClient.remove(providerOf(name));
  };

  return {
    /** One look at the Seed of this name, if it is still there, and at its buckets; others are none of this seed's business. */
    async reconcile({ name }: ClusterKey): Promise<void | { requeueAfter: number }> {
      if (name !== seedName) return;
      const owner = await gardenClient.read(Seed, { name: seedName }).catch(unlessForbidden);
      const buckets = await readOwn(owner);
      const again = await keep(owner, buckets);
      for (const bucket of buckets.filter(isLeaving)) await remove(bucket);
      // Kubernetes deletes the buckets of a Seed that is gone, some time later.
      return again ?? (buckets.length > 0 ? { requeueAfter: AGAIN } : undefined);
    },
  };
}

const isLeaving = ({ metadata }: BackupBucket) => metadata.deletionTimestamp !== undefined;

const isHeld = (bucket: BackupBucket | undefined) => bucket?.metadata.finalizers?.includes(GARDENER_FINALIZER) === true;

const isOwned = (bucket: BackupBucket | undefined) => (bucket?.metadata.ownerReferences ?? []).length > 0;

type Backup = NonNullable<Seed["spec"]["backup"]>;

/** In ms: when a bucket that is to go is looked at again. */
const AGAIN = 10_000;

/** In ms: credentials may change without any of these objects changing. */
const RESYNC = 600_000;

const providerOf = (name: string) => refTo(ExtensionBackupBucket, { name });

function bucketOf({ apiVersion, kind, metadata, spec }: Seed, backup: Backup): BackupBucket {
  const { name, uid = "" } = metadata;
  const { provider: type, region = spec.provider.region, providerConfig, credentialsRef } = backup;
  return {
    ...typeMeta(BackupBucket),
    metadata: {
      name: uid,
      finalizers: [GARDENER_FINALIZER],
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: {
      provider: { type, region },
      seedName: name,
      ...(providerConfig === undefined ? {} : { providerConfig }),
      ...(credentialsRef === undefined ? {} : { credentialsRef }),
    },
  };
}

/** The provider is asked again only when something is new to it. */
function requestFor(existing: ExtensionBackupBucket | undefined, wanted: unknown): Record<string, string> {
  const checksum = createHash("sha256").update(JSON.stringify(wanted)).digest("hex");
  const { annotations = {} } = existing?.metadata ?? {};
  if (annotations[CHECKSUM_ANNOTATION] !== checksum)
    return {
      [CHECKSUM_ANNOTATION]: checksum,
      [OPERATION_ANNOTATION]: "reconcile",
      [TIMESTAMP_ANNOTATION]: new Date().toISOString(),
    };
  const kept = [CHECKSUM_ANNOTATION, TIMESTAMP_ANNOTATION, OPERATION_ANNOTATION];
  return Object.fromEntries(kept.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]]])));
}

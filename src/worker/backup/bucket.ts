import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { GARDENER_FINALIZER } from "../../api/names.ts";
import {
  deployBackupCredentials,
  GARDEN_NAMESPACE,
  readBackupCredentials,
} from "../../activities/backup/credentials.ts";
import {
  CHECKSUM_ANNOTATION,
  CONFIRM_DELETION_ANNOTATION,
  OPERATION_ANNOTATION,
  TIMESTAMP_ANNOTATION,
} from "../../api/annotations.ts";
import { BackupBucket, BackupEntry, ExtensionBackupBucket, Seed } from "../../api/index.ts";
import { refOf, refTo, Secret, typeMeta, type ClusterKey, type KubeClient } from "../../kube/index.ts";
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
    await deployBackupCredentials(seedClient, secretName(name), data);
    const { provider, providerConfig } = bucket.spec;
    const wanted = {
      ...typeMeta(ExtensionBackupBucket),
      metadata: { name },
      spec: {
        type: provider.type,
        region: provider.region,
        secretRef: { name: secretName(name), namespace: GARDEN_NAMESPACE },
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
  const keep = async (buckets: readonly BackupBucket[]) => {
    const owner = await gardenClient.read(Seed, { name: seedName });
    const { uid, deletionTimestamp } = owner?.metadata ?? {};
    const backup = owner?.spec.backup;
    if (owner === undefined || deletionTimestamp !== undefined || backup === undefined) return;
    const existing = buckets.find(({ metadata }) => metadata.name === uid);
    if (existing !== undefined && isLeaving(existing)) return;
    return await ensure(owner, bucketOf(owner, backup), existing);
  };

  const remove = async (bucket: BackupBucket) => {
    const { name } = bucket.metadata;
    const entries = await gardenClient.list(BackupEntry);
    const used = entries.filter(({ spec }) => spec.bucketName === name).length;
    if (used > 0) throw new Error(`cannot delete BackupBucket ${name}: ${used} BackupEntries are in it`);
    const existing = await seedClient.read(providerOf(name));
    await mirrorStatus(gardenClient, refOf(bucket), existing);
    if (existing === undefined) {
      await seedClient.remove(refTo(Secret, { name: secretName(name), namespace: GARDEN_NAMESPACE }));
      return await letGo(gardenClient, bucket);
    }
    const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true" };
    await seedClient.patch(providerOf(name), { metadata: { annotations } });
    await seedClient.remove(providerOf(name));
  };

  return {
    /** One look at the Seed of this name, if it is still there, and at its buckets; others are none of this seed's business. */
    async reconcile({ name }: ClusterKey): Promise<void | { requeueAfter: number }> {
      if (name !== seedName) return;
      const buckets = await gardenClient.list(BackupBucket);
      const own = buckets.filter(({ spec }) => spec.seedName === seedName);
      const again = await keep(own);
      for (const bucket of own.filter(isLeaving)) await remove(bucket);
      return again;
    },
  };
}

const isLeaving = ({ metadata }: BackupBucket) => metadata.deletionTimestamp !== undefined;

const isHeld = (bucket: BackupBucket | undefined) => bucket?.metadata.finalizers?.includes(GARDENER_FINALIZER) === true;

const isOwned = (bucket: BackupBucket | undefined) => (bucket?.metadata.ownerReferences ?? []).length > 0;

type Backup = NonNullable<Seed["spec"]["backup"]>;

/** In ms: credentials may change without any of these objects changing. */
const RESYNC = 600_000;

const secretName = (bucket: string): string => `bucket-${bucket}`;

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

import { bucketCredentials } from "../../api/core/backup-bucket.ts";
import { sourceEntryName } from "../../api/extensions/backup-entry.ts";
import { BackupBucket, ExtensionBackupEntry } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { findObjectStore, type ObjectStore } from "../../api/object-stores.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { copyJob, storeOf, type SeedContext } from "../../components/index.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { abandon } from "../teardown/abandonment.ts";
import { backupEntrySecretName, GARDEN_NAMESPACE } from "../../api/names.ts";
import { deployBackupCredentials, readData } from "./credentials.ts";
import { readContext } from "../control-plane/context.ts";
import { configurationProblem } from "../step-error.ts";
import { referencedSecret } from "../secret-reference.ts";
import type { WaitTarget } from "../index.ts";
import type { AppliedKind } from "../../api/extensions/kinds.ts";
import { ensureJob, jobRef, jobTarget } from "./jobs.ts";
import { completed } from "../waits/readiness.ts";
import type { SnapshotRecord, SnapshotRecords } from "./record.ts";
import type { WaitGroup, Waits } from "../waits/waits.ts";

/** Every write into the seed goes through `seedClient`, which is the run's fenced client. */
export interface BackupSourceDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: SnapshotRecords;
  readonly waits: Waits;
  /** Applies an object of an extension under the run's epoch; returns what the flow waits for. */
  readonly applyObject: (run: ShootRun, object: KubeObject, kind: AppliedKind, group: WaitGroup) => Promise<WaitTarget>;
}

/**
 * Brings the snapshot that is to be restored from the bucket of the seed that took it, where both are in object stores.
 * The other bucket is reached as upstream does it, through a BackupEntry `source-…` whose controller makes the Secret
 * `source-etcd-backup`. Older snapshots stay where they are. Where backups are a claim, its provider copies.
 */
export function createBackupSource({ gardenClient, seedClient, records, waits, applyObject }: BackupSourceDeps) {
  const ensureEntry = async (run: ShootRun, bucket: BackupBucket, group: WaitGroup) => {
    const entry = sourceEntry(run, bucket);
    const existing = await seedClient.read(refTo(ExtensionBackupEntry, { name: entry.metadata.name }));
    // The Secret of another bucket must be gone before a pod could take it for this one's.
    if (existing !== undefined && existing.spec.bucketName !== bucket.metadata.name)
      await releaseSource(seedClient, run);
    await deployBackupCredentials(
      seedClient,
      entry.spec.secretRef.name ?? "",
      await readCredentials(gardenClient, bucket),
    );
    return await applyObject(run, entry, "BackupEntry", group);
  };

  /** The snapshot that was recorded last, if it is in another seed's bucket and so is to be copied. */
  const readForeign = async (run: ShootRun) => {
    if (run.migration === undefined) return undefined;
    const context = await readContext(gardenClient, seedClient, run);
    const snapshot = await records.latest(run);
    if (snapshot === undefined || storeOf(context) === undefined || isAtHome(snapshot, context)) return undefined;
    return { context, snapshot };
  };

  return {
    /**
     * A Job that copies the snapshot that was recorded last. Before a planned migration stops the API server it is one
     * that will not be needed: what stands in the way shows while that costs nothing.
     */
    async copySnapshot(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const foreign = await readForeign(run);
      if (foreign === undefined) return [];
      const { context, snapshot } = foreign;
      const what = `snapshot ${snapshot.name} of etcd-main of ${run.technicalID} is`;
      const { bucket, store } = await findSource(gardenClient, snapshot.bucket, what);
      const name = `copy-${snapshot.name.replace(/\.db$/, "")}`;
      const job = await seedClient.read(jobRef(run.technicalID, name));
      if (job !== undefined && completed(job).reached) return [];
      const group = waits.group(step, 2);
      const entry = await ensureEntry(run, bucket, group);
      const target = jobTarget(run.technicalID, name, 3_600_000);
      const describe = async () => copyJob(context, name, { snapshot: snapshot.name, store });
      await ensureJob({ seedClient, group, target, describe });
      return [entry, target];
    },

    /** The store of another seed's bucket that holds the Shoot's backups. Throws where it is in none that could be reached. */
    async sourceStore(run: ShootRun, bucket: string): Promise<ObjectStore> {
      return (await findSource(gardenClient, bucket, backupsOf(run))).store;
    },

    /** Has that bucket made reachable; returns what is to be waited for. */
    async reachSource(run: ShootRun, bucket: string, group: WaitGroup): Promise<WaitTarget> {
      return await ensureEntry(run, (await findSource(gardenClient, bucket, backupsOf(run))).bucket, group);
    },

    /**
     * Lets go of the other bucket once nothing more is wanted of it. What was copied is recorded where it is now: should
     * this seed be lost before its first own snapshot, the next one may read no bucket but this seed's.
     */
    async releaseSource(run: ShootRun): Promise<void> {
      const { context, snapshot } = (await readForeign(run)) ?? {};
      const bucket = context?.seed.metadata.uid;
      if (snapshot !== undefined && bucket !== undefined) await records.record(run, { ...snapshot, bucket });
      await releaseSource(seedClient, run);
    },
  };
}

/**
 * Takes away what reached another seed's bucket. Upstream's controllers would answer a deletion of their BackupEntry by
 * removing the Shoot's objects from that bucket: they are not asked.
 */
export async function releaseSource(seedClient: KubeClient, { technicalID, uid }: ShootRun): Promise<void> {
  const name = sourceEntryName(technicalID, uid);
  await abandon(seedClient, refTo(ExtensionBackupEntry, { name }));
  await seedClient.remove(refTo(Secret, { namespace: technicalID, name: "source-etcd-backup" }));
  await seedClient.remove(refTo(Secret, { namespace: GARDEN_NAMESPACE, name: backupEntrySecretName(name) }));
}

const isAtHome = ({ bucket }: SnapshotRecord, { seed }: SeedContext): boolean => bucket === seed.metadata.uid;

const backupsOf = ({ technicalID }: ShootRun): string => `the backups of etcd-main of ${technicalID} are`;

/** The bucket as the garden knows it, and the store that it is in; `what` begins the sentence that says why there is none. */
async function findSource(gardenClient: KubeClient, name: string, what: string) {
  const bucket = await gardenClient.read(BackupBucket, { name });
  if (bucket === undefined)
    throw configurationProblem(`${what} in BackupBucket ${name}, which does not exist in the garden`);
  const { type } = bucket.spec.provider;
  const store = findObjectStore(type);
  if (store === undefined)
    throw configurationProblem(
      `${what} in BackupBucket ${name} of provider ${type}, which is no object store: no pod can read that from another Seed`,
    );
  return { bucket, store };
}

async function readCredentials(gardenClient: KubeClient, bucket: BackupBucket) {
  const who = `BackupBucket ${bucket.metadata.name}`;
  return await readData(
    gardenClient,
    referencedSecret(bucketCredentials(bucket) ?? {}, { namespace: GARDEN_NAMESPACE, who }),
  );
}

function sourceEntry({ technicalID, uid }: ShootRun, { metadata, spec, status }: BackupBucket): ExtensionBackupEntry {
  const name = sourceEntryName(technicalID, uid);
  const { providerStatus } = status ?? {};
  return {
    ...typeMeta(ExtensionBackupEntry),
    metadata: { name },
    spec: {
      type: spec.provider.type,
      region: spec.provider.region,
      bucketName: metadata.name,
      secretRef: { name: backupEntrySecretName(name), namespace: GARDEN_NAMESPACE },
      ...(providerStatus === undefined ? {} : { backupBucketProviderStatus: providerStatus }),
    },
  };
}

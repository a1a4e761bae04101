import { GARDENER_FINALIZER } from "../../api/names.ts";
import { EPOCH_ANNOTATION, PREVIOUS_BUCKET_ANNOTATION, writtenEpoch } from "../../api/annotations.ts";
import { GARDEN_NAMESPACE_LABEL } from "../../api/labels.ts";
import {
  ExtensionBackupBucket,
  FIRST_EPOCH,
  Shoot,
  type BackupEntry,
  type ExtensionBackupEntry,
} from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { backupEntryObject, type SeedContext } from "../../components/index.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { deployBackupCredentials, readBackupCredentials, readGenerated } from "./credentials.ts";
import { StepError } from "../step-error.ts";
import { Superseded } from "../superseded.ts";

/** What a Shoot's BackupEntry is made from. */
export interface BackupEntryDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly context: SeedContext;
  readonly epoch: ShootRun["epoch"];
}

/**
 * The Shoot's BackupEntry for the seed, once the seed's bucket is ready. In the garden, its namesake says which seed and
 * bucket hold the backups now, and stays when the Shoot goes: it is the Shoot's, so it is deleted with it, but held.
 */
export async function deployBackupEntry({
  gardenClient,
  seedClient,
  context,
  epoch,
}: BackupEntryDeps): Promise<ExtensionBackupEntry> {
  const bucket = await readSeedBucket(seedClient, context);
  const entry = backupEntryObject(context, bucket.status?.providerStatus);
  const generated = await readGenerated(seedClient, bucket);
  const credentials = generated ?? (await readBackupCredentials(gardenClient, context.seed));
  const labels = { [GARDEN_NAMESPACE_LABEL]: context.shoot.metadata.namespace };
  await deployBackupCredentials(seedClient, entry.spec.secretRef.name ?? "", credentials, labels);
  await claimInGarden(gardenClient, gardenEntry(context, entry), epoch);
  return entry;
}

async function readSeedBucket(seedClient: KubeClient, context: SeedContext): Promise<ExtensionBackupBucket> {
  const name = context.seed.metadata.uid ?? "";
  const bucket = await seedClient.read(ExtensionBackupBucket, { name });
  const { lastOperation, lastError } = bucket?.status ?? {};
  if (bucket !== undefined && lastOperation?.state === "Succeeded") return bucket;
  const why = lastError?.description ?? lastOperation?.description ?? "it does not exist yet";
  throw new StepError(`BackupBucket ${name} of Seed ${context.seed.metadata.name} is not ready: ${why}`);
}

function gardenEntry({ shoot, seed }: SeedContext, { metadata, spec }: ExtensionBackupEntry): BackupEntry {
  const { apiVersion, kind } = shoot;
  const { name, namespace, uid = "" } = shoot.metadata;
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "BackupEntry",
    metadata: {
      name: metadata.name,
      namespace,
      finalizers: [GARDENER_FINALIZER],
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: {
      bucketName: spec.bucketName,
      seedName: seed.metadata.name,
      shootRef: { apiVersion, kind, name, namespace },
    },
  };
}

/**
 * Two seeds may claim the entry: the later epoch wins in either order of writes. Throws {@link Superseded}. An epoch that the Shoot
 * has not reached belongs to no leader: a seed that led has written it, and it keeps no later leader out.
 */
async function claimInGarden(gardenClient: KubeClient, entry: BackupEntry, epoch: number): Promise<void> {
  const existing = await gardenClient.read(refOf(entry));
  const claimed = writtenEpoch(existing?.metadata.annotations);
  if (claimed > epoch && claimed <= (await leadingEpoch(gardenClient, entry)))
    throw new Superseded(`cannot write BackupEntry ${entry.metadata.name}: epoch ${epoch} is over, ${claimed} leads`);
  const annotations = { [EPOCH_ANNOTATION]: String(epoch), ...previousBucket(existing, entry) };
  const { resourceVersion } = existing?.metadata ?? {};
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  await gardenClient.apply({ ...entry, metadata: { ...entry.metadata, annotations, ...version } });
}

/** The Shoot's epoch, as of now: its status names an epoch before a seed writes under it. */
async function leadingEpoch(gardenClient: KubeClient, { metadata, spec }: BackupEntry): Promise<number> {
  const shoot = await gardenClient.read(Shoot, { namespace: metadata.namespace, name: spec.shootRef?.name ?? "" });
  return shoot?.status?.leadership?.epoch ?? FIRST_EPOCH;
}

/** The bucket from which the seed restores the Shoot: it may read that one, too, for as long as the Shoot is on its way. */
function previousBucket(existing: BackupEntry | undefined, { spec }: BackupEntry): Readonly<Record<string, string>> {
  if (existing === undefined) return {};
  const before = existing.metadata.annotations?.[PREVIOUS_BUCKET_ANNOTATION];
  const previous = existing.spec.bucketName === spec.bucketName ? before : existing.spec.bucketName;
  return previous === undefined ? {} : { [PREVIOUS_BUCKET_ANNOTATION]: previous };
}

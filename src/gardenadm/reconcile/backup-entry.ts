import { deployBackupCredentials, readGenerated } from "../../activities/backup/credentials.ts";
import { applyExtensionObject } from "../../activities/extensions/apply-object.ts";
import { needsPeriodicTrigger } from "../../activities/extensions/trigger.ts";
import { StepError } from "../../activities/step-error.ts";
import { BackupBucket } from "../../api/core/backup-bucket.ts";
import { ExtensionBackupBucket } from "../../api/index.ts";
import { BACKUP_PLACE, backupBucketSecretName, GARDEN_NAMESPACE } from "../../api/names.ts";
import { backupEntryObject, backupSettings, BUCKET_KEY, type ControlPlaneContext } from "../../components/index.ts";
import type { StoreAccess } from "../../etcd-data/store.ts";
import type { StepScope } from "../../in-process/run.ts";
import { decodeData, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { NAMESPACE } from "../cluster/control-plane.ts";
import { backupCredentialsOf } from "../configuration/backup.ts";
import { untilReached } from "../cluster/reached.ts";

/** Where a place for backups is asked for. */
export interface BackupEntryDeps {
  readonly client: KubeClient;
  readonly configuration: Pick<Configuration, "shoot" | "objects">;
}

/**
 * Has an extension make the bucket, then the Shoot's part of it, and waits for both, as seeds do. The bucket is the one that the
 * Secret of the backup names, or the configuration's BackupBucket; else it bears the Shoot's uid.
 */
export async function deployBackupEntry(
  { client, configuration }: BackupEntryDeps,
  context: ControlPlaneContext,
  scope: StepScope,
): Promise<void> {
  const backup = backupSettings(context);
  if (backup === undefined) throw new Error("the Shoot asks for no backup");
  const credentials = backupCredentialsOf(configuration);
  const name = bucketNameOf(configuration, credentials, context);
  await deployBackupCredentials(client, backupBucketSecretName(name), credentials);
  const { provider: type, region = context.shoot.spec.region, providerConfig } = backup;
  const bucket: ExtensionBackupBucket = {
    ...typeMeta(ExtensionBackupBucket),
    metadata: { name },
    spec: {
      ...{ type, region },
      secretRef: { name: backupBucketSecretName(name), namespace: GARDEN_NAMESPACE },
      ...(providerConfig === undefined ? {} : { providerConfig }),
    },
  };
  await untilReached(client, [await apply(client, bucket, "BackupBucket")], scope);
  const made = await client.read(ExtensionBackupBucket, { name });
  const entry = backupEntryObject(context, made?.status?.providerStatus, name);
  const generated = made && (await readGenerated(client, made));
  await deployBackupCredentials(client, entry.spec.secretRef.name ?? "", generated ?? credentials);
  await untilReached(client, [await apply(client, entry, "BackupEntry")], scope);
}

const apply = async (
  client: KubeClient,
  object: Parameters<KubeClient["apply"]>[0],
  kind: "BackupBucket" | "BackupEntry",
) => await applyExtensionObject(client, object, { kind, asks: needsPeriodicTrigger });

function bucketNameOf(
  { objects }: BackupEntryDeps["configuration"],
  { [BUCKET_KEY]: named }: Readonly<Record<string, string>>,
  { shoot }: ControlPlaneContext,
): string {
  if (named !== undefined) return Buffer.from(named, "base64").toString();
  return objects.find(({ kind }) => kind === BackupBucket.kind)?.metadata.name ?? shoot.metadata.uid ?? "";
}

/** How backups are reached by what the controller of the BackupEntry has left for pods. Throws a StepError while that is not there. */
export async function providedAccess(client: KubeClient, context: ControlPlaneContext): Promise<StoreAccess> {
  const { provider } = backupSettings(context) ?? { provider: "" };
  const { data } = (await client.read(Secret, { namespace: NAMESPACE, name: BACKUP_PLACE })) ?? {};
  if (data === undefined)
    throw new StepError(
      `there is no Secret ${NAMESPACE}/${BACKUP_PLACE}, which the controller of the BackupEntry makes`,
    );
  return { provider, secret: decodeData(data) };
}

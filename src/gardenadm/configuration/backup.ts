import { BackupBucket } from "../../api/core/backup-bucket.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import { BUCKET_KEY } from "../../components/index.ts";
import type { StoreAccess } from "../../etcd-data/store.ts";
import { decodeData } from "../../kube/secret-data.ts";
import type { Configuration } from "./configuration.ts";

/**
 * How backups are reached by what a configuration says: the Secret that `backup.credentialsRef` names, as text. The bucket's name,
 * where the Secret has none, is that of the BackupBucket; undefined where no backup is asked for.
 */
export function backupAccessOf({ shoot, objects }: Pick<Configuration, "shoot" | "objects">): StoreAccess | undefined {
  const backup = controlPlanePools(shoot)[0]?.controlPlane?.backup;
  if (backup === undefined) return undefined;
  const bucket = objects.find(({ kind }) => kind === BackupBucket.kind)?.metadata.name;
  return {
    provider: backup.provider,
    secret: {
      ...(bucket !== undefined && { [BUCKET_KEY]: bucket }),
      ...(backup.region !== undefined && { region: backup.region }),
      ...decodeData(backupCredentialsOf({ shoot, objects })),
    },
  };
}

/** The data of the Secret that `backup.credentialsRef` names, in base64; none where a configuration has no such Secret. */
export function backupCredentialsOf({
  shoot,
  objects,
}: Pick<Configuration, "shoot" | "objects">): Readonly<Record<string, string>> {
  const { name, namespace } = controlPlanePools(shoot)[0]?.controlPlane?.backup?.credentialsRef ?? {};
  const found = objects.find(
    ({ kind, metadata }) =>
      kind === "Secret" &&
      metadata.name === name &&
      metadata.namespace === (namespace === undefined || namespace === "" ? shoot.metadata.namespace : namespace),
  );
  return (found?.["data"] ?? {}) as Readonly<Record<string, string>>;
}

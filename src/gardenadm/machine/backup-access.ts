import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { BackupBucket } from "../../api/core/backup-bucket.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import { BUCKET_KEY } from "../../components/index.ts";
import type { StoreAccess } from "../../etcd-data/store.ts";
import { decodeData } from "../../kube/secret-data.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { readIfThere } from "./is-there.ts";
import type { Configuration } from "../configuration/configuration.ts";

/** How a machine reaches the backups of its cluster, and whose they are. */
export interface BackupAccess extends StoreAccess {
  /** The uid of the Shoot. */
  readonly uid: string;
}

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

/** Leaves on the machine, for root alone, how its agent reaches the backups; writes nothing where it knows that already. */
export async function keepBackupAccess(root: string, access: BackupAccess): Promise<void> {
  if (isDeepStrictEqual(await readBackupAccess(root), access)) return;
  await writeWhole(join(root, FILE), Buffer.from(`${JSON.stringify(access, null, 2)}\n`), 0o600);
}

/** How the backups are reached from this machine; undefined where it was not told. */
export async function readBackupAccess(root: string): Promise<BackupAccess | undefined> {
  const text = await readIfThere(join(root, FILE));
  return text === undefined ? undefined : (parseJson(text, FILE) as BackupAccess);
}

const FILE = "/var/lib/gardenadm/backup/access.json";

import { ROLE_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { isGeneratedFor } from "../../api/core/backup-bucket.ts";
import type { ExtensionBackupBucket, Seed } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";
import { referencedSecret } from "../secret-reference.ts";

/** A Secret's data, base64. */
export type SecretData = Readonly<Record<string, string>>;

/** The credentials for the bucket of a Seed's backups, from the garden. */
export async function readBackupCredentials(gardenClient: KubeClient, { metadata, spec }: Seed): Promise<SecretData> {
  const who = `spec.backup.credentialsRef of Seed ${metadata.name}`;
  const { name, namespace } = referencedSecret(spec.backup?.credentialsRef ?? {}, { namespace: GARDEN_NAMESPACE, who });
  return await readData(gardenClient, { name, namespace });
}

/** The data of a Secret that has to be there. */
export async function readData(client: KubeClient, ref: { name: string; namespace: string }): Promise<SecretData> {
  const secret = await client.read(Secret, ref);
  if (secret === undefined)
    throw configurationProblem(`Secret ${ref.namespace}/${ref.name} with credentials of backups does not exist`);
  return secret.data ?? {};
}

/** The credentials that came with a bucket of this cluster; undefined where none did. Throws for a Secret that is not the bucket's. */
export async function readGenerated(
  client: KubeClient,
  { metadata: { name: bucket }, status }: ExtensionBackupBucket,
): Promise<SecretData | undefined> {
  const ref = status?.generatedSecretRef;
  if (ref === undefined) return undefined;
  const { name = "", namespace = GARDEN_NAMESPACE } = ref;
  if (!isGeneratedFor(bucket, ref))
    throw configurationProblem(
      `status.generatedSecretRef of BackupBucket ${bucket} names Secret ${namespace}/${name}, which is not the bucket's: ` +
        `its controller has to keep the bucket's credentials in namespace ${GARDEN_NAMESPACE}, in a Secret with the bucket's name in its own`,
    );
  return await readData(client, { name, namespace });
}

/** Puts credentials where the seed's extensions read them: beside no Shoot, because backups outlive theirs. */
export async function deployBackupCredentials(
  seedClient: KubeClient,
  name: string,
  data: SecretData,
  secretLabels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const labels = { [ROLE_LABEL]: "garden" };
  const namespace = GARDEN_NAMESPACE;
  await seedClient.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: secretLabels },
    type: "Opaque",
    data,
  };
  await seedClient.apply<KubeObject>(secret);
}

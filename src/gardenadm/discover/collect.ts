import { BackupBucket } from "../../api/core/backup-bucket.ts";
import { BackupEntry } from "../../api/core/backup-entry.ts";
import { CloudProfile } from "../../api/core/cloud-profile.ts";
import { CredentialsBinding } from "../../api/core/credentials-binding.ts";
import { profileReference } from "../../api/core/effective-profile.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { NamespacedCloudProfile } from "../../api/core/namespaced-cloud-profile.ts";
import { Project } from "../../api/core/project.ts";
import { SecretBinding } from "../../api/core/secret-binding.ts";
import { shootUidOfBackupEntry, sourceEntryName, technicalIdOf } from "../../api/extensions/backup-entry.ts";
import { projectOf } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { ShootState } from "../../api/shoot/state.ts";
import { ConfigMap, Secret, unlessForbidden } from "../../kube/index.ts";
import { createFault, nameOf } from "../configuration/fault.ts";
import { collectRegistrations } from "./collect-registrations.ts";
import type { Need } from "./need.ts";
import { isGeneratedFor } from "../../api/core/backup-bucket.ts";
import { referenceOf, referencesOfShoot, type Reference } from "../../api/shoot/references.ts";
import { uidOf } from "./stored-object.ts";

/** Gathers all that a self-hosted Shoot needs besides itself. All that is not asked of another answer is asked at once. */
export async function collect(need: Need): Promise<void> {
  const bucket = collectBackup(need);
  await Promise.all([
    collectProfile(need),
    collectProject(need),
    collectBindings(need),
    ...referencesOfShoot(need.shoot).map((reference) => follow(need, need.shoot, reference)),
    collectState(need),
    bucket,
    collectRegistrations(need, bucket),
  ]);
}

async function collectProfile({ shoot, collection }: Need): Promise<void> {
  const { kind, name } = profileReference(shoot) ?? {};
  const named = { by: shoot, field: "spec.cloudProfile", isRequired: true };
  if (name === undefined)
    collection.faults.push(createFault({ object: nameOf(shoot), field: named.field }, "names none: write one"));
  else if (kind === NamespacedCloudProfile.kind) {
    const key = { namespace: shoot.metadata.namespace, name };
    const own = await collection.take(NamespacedCloudProfile, key, named);
    if (own === undefined) return;
    const parent = { name: own.spec.parent.name };
    await collection.take(CloudProfile, parent, { by: own, field: "spec.parent", isRequired: true });
  } else await collection.take(CloudProfile, { name }, named);
}

async function collectProject({ shoot, collection }: Need): Promise<void> {
  const { namespace } = shoot.metadata;
  const own = collection.written.find(({ object }) => object.kind === Project.kind)?.object;
  const found = await readNamespaceProject(collection.garden, namespace).catch(unlessForbidden);
  const name = own?.metadata.name ?? found?.name ?? projectOf(namespace);
  await collection.take(Project, { name }, { by: shoot, field: "metadata.namespace", isRequired: true });
}

async function collectBindings(need: Need): Promise<void> {
  const { shoot, collection } = need;
  const { namespace } = shoot.metadata;
  const { credentialsBindingName, secretBindingName } = shoot.spec;
  const named = (field: string) => ({ by: shoot, field: `spec.${field}`, isRequired: true });
  if (credentialsBindingName) {
    const key = { namespace, name: credentialsBindingName };
    const binding = await collection.take(CredentialsBinding, key, named("credentialsBindingName"));
    if (binding) await followAll(need, binding, referenceOf(binding, "credentialsRef", binding.credentialsRef));
  }
  if (secretBindingName) {
    const key = { namespace, name: secretBindingName };
    const binding = await collection.take(SecretBinding, key, named("secretBindingName"));
    if (binding) await followAll(need, binding, referenceOf(binding, "secretRef", binding.secretRef));
  }
}

async function collectState({ shoot, existing, collection }: Need): Promise<void> {
  const { namespace, name } = shoot.metadata;
  const found = await collection.take(ShootState, { namespace, name });
  if (found === undefined && existing !== undefined)
    collection.note(nameOf(shoot), "has no ShootState in the garden: left out");
}

/** The BackupEntry of a Shoot that exists, its bucket and the bucket's credentials. */
async function collectBackup(need: Need): Promise<BackupBucket | undefined> {
  const { shoot, existing, collection } = need;
  const uid = existing && uidOf(existing);
  if (uid === undefined) return undefined;
  const entries = await collection.garden.list(BackupEntry, { namespace: shoot.metadata.namespace });
  const own = entries.filter(({ metadata: { name } }) => shootUidOfBackupEntry(name) === uid && !isSource(name, uid));
  for (const entry of own) collection.keep(entry, entry);
  const [entry] = own;
  if (entry === undefined) {
    collection.note(nameOf(shoot), "has no BackupEntry in the garden: left out");
    return undefined;
  }
  const named = { by: entry, field: "spec.bucketName", isRequired: false };
  const bucket = await collection.take(BackupBucket, { name: entry.spec.bucketName }, named);
  if (bucket === undefined) return undefined;
  const { spec, status: { generatedSecretRef: generated = {} } = {} } = bucket;
  const isOwn = isGeneratedFor(bucket.metadata.name, generated);
  const secrets = [
    ...referenceOf(bucket, "spec.credentialsRef", spec.credentialsRef ?? {}),
    ...referenceOf(bucket, "status.generatedSecretRef", isOwn ? generated : {}),
  ];
  await followAll(
    need,
    bucket,
    secrets.map((one) => ({ ...one, isRequired: false })),
  );
  return bucket;
}

/** Whether an entry is the one through which a Shoot reads the bucket that it moves away from. */
const isSource = (name: string, uid: string): boolean => name === sourceEntryName(technicalIdOf(name), uid);

async function followAll(need: Need, by: KubeObject, references: readonly Reference[]): Promise<void> {
  await Promise.all(references.map((reference) => follow(need, by, reference)));
}

async function follow({ collection }: Need, by: KubeObject, reference: Reference): Promise<void> {
  const { kind, namespace, name, field, isRequired } = reference;
  const key = { namespace, name };
  if (kind === Secret.kind) await collection.take(Secret, key, { by, field, isRequired });
  else if (kind === ConfigMap.kind) await collection.take(ConfigMap, key, { by, field, isRequired });
  else {
    const message = `asks for ${kind} ${namespace}/${name}, which has no place in a configuration`;
    if (isRequired) collection.faults.push(createFault({ object: nameOf(by), field }, `${message}: write a Secret`));
    else collection.note(nameOf(by), `${field} ${message}: left out`);
  }
}

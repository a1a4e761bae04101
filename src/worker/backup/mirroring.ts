import { isDeepStrictEqual } from "node:util";
import { GARDEN_NAMESPACE, GARDENER_FINALIZER, generatedSecretName } from "../../api/names.ts";
import { readGenerated } from "../../activities/backup/credentials.ts";
import type { BackupBucket, BackupEntry, ExtensionBackupBucket, ExtensionBackupEntry } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf, Secret, typeMeta, type KubeClient, type ObjectRef } from "../../kube/index.ts";

/** Tells in the garden what a provider says of its part in the seed. */
export async function mirrorStatus(
  gardenClient: KubeClient,
  ref: ObjectRef<BackupBucket | BackupEntry>,
  provided: ExtensionBackupBucket | ExtensionBackupEntry | undefined,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { lastOperation, lastError = null, ...others } = provided?.status ?? {};
  if (lastOperation === undefined) return;
  const bucket = provided?.kind === "BackupBucket" ? pick(others, "providerStatus", "generatedSecretRef") : {};
  const status = { lastOperation, lastError, ...bucket, ...more };
  const existing = await gardenClient.read(ref);
  if (existing === undefined) return;
  const known = { ...existing.status, lastError: existing.status?.["lastError"] ?? null };
  const same = Object.entries(status).every(([key, value]) =>
    isDeepStrictEqual(known[key as keyof typeof known], value),
  );
  if (!same) await gardenClient.patch(ref, { status }, { subresource: "status" });
}

/** Keeps credentials that came with a bucket in the garden, too, where they outlive the seed; what its status says of them there. */
export async function keepGenerated(o: {
  gardenClient: KubeClient;
  seedClient: KubeClient;
  bucket: BackupBucket;
  provided: ExtensionBackupBucket | undefined;
}): Promise<Record<string, unknown>> {
  const data = o.provided && (await readGenerated(o.seedClient, o.provided));
  if (data === undefined) return {};
  const { apiVersion, kind, metadata } = o.bucket;
  const kept = { name: generatedSecretName(metadata.name), namespace: GARDEN_NAMESPACE };
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" }];
  await o.gardenClient.apply<Secret>({
    ...typeMeta(Secret),
    metadata: { ...kept, ownerReferences },
    type: "Opaque",
    data,
  });
  return { generatedSecretRef: kept };
}

/** Lets an object that is being deleted go, once nothing is left of what it stands for. */
export async function letGo(gardenClient: KubeClient, object: KubeObject): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const left = finalizers.filter((finalizer) => finalizer !== GARDENER_FINALIZER);
  await gardenClient.patch(refOf(object), { metadata: { resourceVersion, finalizers: left } });
}

function pick(from: Readonly<Record<string, unknown>>, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}

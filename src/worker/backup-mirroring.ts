import { isDeepStrictEqual } from "node:util";
import { GARDENER_FINALIZER } from "../api/annotations.ts";
import type { ExtensionBackupBucket, ExtensionBackupEntry } from "../api/index.ts";
import type { KubeObject } from "../api/meta.ts";
import { refOf, type KubeClient, type ObjectRef } from "../kube/index.ts";

/** Tells in the garden what a provider says of its part in the seed. */
export async function mirrorStatus(
  garden: KubeClient,
  ref: ObjectRef,
  provided: ExtensionBackupBucket | ExtensionBackupEntry | undefined,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { lastOperation, lastError = null, ...others } = provided?.status ?? {};
  if (lastOperation === undefined) return;
  const bucket = provided?.kind === "BackupBucket" ? pick(others, "providerStatus", "generatedSecretRef") : {};
  const status = { lastOperation, lastError, ...bucket, ...more };
  const existing = await garden.read<KubeObject & { status?: Record<string, unknown> }>(ref);
  if (existing === undefined) return;
  const known = { ...existing.status, lastError: existing.status?.["lastError"] ?? null };
  const same = Object.entries(status).every(([key, value]) =>
    isDeepStrictEqual(known[key as keyof typeof known], value),
  );
  if (!same) await garden.patch(ref, { status }, { subresource: "status" });
}

/** Lets an object that is being deleted go, once nothing is left of what it stands for. */
export async function letGo(garden: KubeClient, object: KubeObject): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const left = finalizers.filter((finalizer) => finalizer !== GARDENER_FINALIZER);
  await garden.patch(refOf(object), { metadata: { resourceVersion, finalizers: left } });
}

function pick(from: Readonly<Record<string, unknown>>, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}

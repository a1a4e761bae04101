import type { KubeObject } from "../api/schema/meta.ts";
import { unlessGone, type KubeClient, type ObjectRef } from "../kube/index.ts";

/** Keeps an object from going: it has the finalizer when this returns. False when there is none that could be kept. */
export async function holdObject(client: KubeClient, ref: ObjectRef, finalizer: string): Promise<boolean> {
  const object = await client.read(ref);
  if (object === undefined) return false;
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (finalizers.includes(finalizer)) return true;
  if (deletionTimestamp !== undefined) return false; // the API server takes no further finalizer
  await patchFinalizers(client, ref, object, [...finalizers, finalizer]);
  return true;
}

/** Lets an object go, as far as this finalizer is concerned. */
export async function releaseObject(client: KubeClient, ref: ObjectRef, finalizer: string): Promise<void> {
  const object = await client.read(ref);
  const { finalizers = [] } = object?.metadata ?? {};
  if (object === undefined || !finalizers.includes(finalizer)) return;
  const left = finalizers.filter((one) => one !== finalizer);
  await unlessGone(patchFinalizers(client, ref, object, left));
}

/** A list is replaced as a whole: a conflict, after which the caller tries again, keeps the finalizers of others. */
async function patchFinalizers(
  client: KubeClient,
  ref: ObjectRef,
  { metadata: { resourceVersion } }: KubeObject,
  finalizers: readonly string[],
): Promise<void> {
  await client.patch(ref, { metadata: { resourceVersion, finalizers } });
}

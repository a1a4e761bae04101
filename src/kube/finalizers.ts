import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "./client.ts";
import { unlessGone } from "./errors.ts";
import { refOf, type ObjectRef } from "./path.ts";

/** Keeps an object from going: it has the finalizer when this returns. False when there is none that could be kept. */
export async function holdObject(client: KubeClient, ref: ObjectRef, finalizer: string): Promise<boolean> {
  const object = await client.read(ref);
  if (object === undefined) return false;
  const isHeld = object.metadata.finalizers?.includes(finalizer) === true;
  if (!isHeld && object.metadata.deletionTimestamp !== undefined) return false; // the API server takes no further finalizer
  await addFinalizer(client, object, finalizer);
  return true;
}

/** Lets an object go, as far as this finalizer is concerned. */
export async function releaseObject(client: KubeClient, ref: ObjectRef, finalizer: string): Promise<void> {
  const object = await client.read(ref);
  if (object !== undefined) await dropFinalizer(client, object, finalizer);
}

/** Gives an object as it was seen the finalizer; returns it as it then is. */
export async function addFinalizer<T extends KubeObject>(client: KubeClient, object: T, finalizer: string): Promise<T> {
  const { finalizers = [] } = object.metadata;
  return finalizers.includes(finalizer) ? object : await writeFinalizers(client, object, [...finalizers, finalizer]);
}

/** Takes the finalizer from an object as it was seen, if it is there still. */
export async function dropFinalizer(client: KubeClient, object: KubeObject, finalizer: string): Promise<void> {
  const { finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) return;
  const left = finalizers.filter((one) => one !== finalizer);
  await unlessGone(writeFinalizers(client, object, left));
}

/** A list is replaced as a whole: a conflict, after which the caller tries again, keeps the finalizers of others. */
async function writeFinalizers<T extends KubeObject>(
  client: KubeClient,
  object: T,
  finalizers: readonly string[],
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  return await client.patch(refOf(object), { metadata: { uid, resourceVersion, finalizers } });
}

import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../api/annotations.ts";
import { isConflict, refOf, type KubeClient } from "../kube/index.ts";
import type { ExtensionObject } from "./extension-object.ts";
import { requestedOperation } from "./operation.ts";

/** Makes sure that the object can't go before `delete` has run; returns the object as it is then. */
export async function addFinalizer(
  client: KubeClient,
  object: ExtensionObject,
  finalizer: string,
): Promise<ExtensionObject> {
  const changed = await changeMetadata(client, object, ({ metadata }) =>
    metadata.finalizers?.includes(finalizer) ? undefined : { finalizers: [...(metadata.finalizers ?? []), finalizer] },
  );
  return changed ?? object;
}

/** Lets the object go, as far as we are concerned; the finalizers of others stay. */
export async function removeFinalizer(client: KubeClient, object: ExtensionObject, finalizer: string): Promise<void> {
  await changeMetadata(client, object, ({ metadata }) =>
    metadata.finalizers?.includes(finalizer)
      ? { finalizers: metadata.finalizers.filter((f) => f !== finalizer) }
      : undefined,
  );
}

/** Removes every finalizer, also those of others: after a migration no controller of this seed acts on the object again. */
export async function removeAllFinalizers(client: KubeClient, object: ExtensionObject): Promise<void> {
  await changeMetadata(client, object, ({ metadata }) =>
    metadata.finalizers?.length ? { finalizers: null } : undefined,
  );
}

/**
 * Answers the request that `asked` carried, the object as it was when the operation was chosen, by removing its annotation;
 * a newer one stands. Returns the object as it is then.
 */
export async function removeOperationAnnotation(
  client: KubeClient,
  object: ExtensionObject,
  asked: ExtensionObject,
): Promise<ExtensionObject> {
  const answered = request(asked);
  const changed = await changeMetadata(client, object, (current) =>
    requestedOperation(current) !== undefined && request(current) === answered
      ? { annotations: { [OPERATION_ANNOTATION]: null } }
      : undefined,
  );
  return changed ?? object;
}

/** Compare-and-swap, starting with the object at hand and reading it again when it has changed; undefined when it is gone. */
async function changeMetadata(
  client: KubeClient,
  object: ExtensionObject,
  change: (object: ExtensionObject) => Record<string, unknown> | undefined,
): Promise<ExtensionObject | undefined> {
  const ref = refOf(object);
  let current: ExtensionObject | undefined = object;
  for (;;) {
    if (!current || current.metadata.uid !== object.metadata.uid) return undefined;
    const metadata = change(current);
    if (!metadata) return current;
    try {
      const { resourceVersion } = current.metadata;
      return await client.patch(ref, { metadata: { ...metadata, resourceVersion } });
    } catch (error) {
      if (!isConflict(error)) throw error;
      current = await client.read(ref);
    }
  }
}

function request(object: ExtensionObject): string {
  return `${requestedOperation(object)} ${object.metadata.annotations?.[TIMESTAMP_ANNOTATION]}`;
}

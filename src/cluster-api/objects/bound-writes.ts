import type { Condition } from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { isConflict, refOf, typeMeta, unlessGone, type KubeClient } from "../../kube/index.ts";
import { ENDPOINT_MANAGER } from "./field-managers.ts";

/**
 * Changes an object only as it was seen: nothing is made of one that has gone meanwhile, and one that has changed stays. Undefined
 * then: the watch brings it as it is now.
 */
export async function patchSeen<T extends KubeObject>(
  client: KubeClient,
  object: T,
  patch: { readonly metadata?: object; readonly spec?: object },
): Promise<T | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const bound = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
  return await unlessChanged(client.patch(refOf(object), bound, { fieldManager: ENDPOINT_MANAGER }));
}

/** Says these conditions of an object as it was seen, and leaves those of others alone; undefined as for {@link patchSeen}. */
export async function applyConditions<T extends KubeObject>(
  client: KubeClient,
  object: T,
  conditions: readonly Condition[],
): Promise<KubeObject | undefined> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const metadata = {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
  const applied: KubeObject = { ...typeMeta(object), metadata, status: { conditions } };
  return await unlessChanged(client.applyStatus(applied, { fieldManager: ENDPOINT_MANAGER }));
}

async function unlessChanged<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessGone(call);
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}

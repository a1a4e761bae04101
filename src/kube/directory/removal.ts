import type { KubeObject } from "../../api/schema/meta.ts";
import type { RemoveOptions } from "../client.ts";
import { refOf, type ObjectRef } from "../path.ts";
import { now } from "../time.ts";
import { asGoing, isKind } from "./lifecycle.ts";
import { refuse, type Call } from "./refusals.ts";
import type { ObjectStore } from "./store.ts";
import { FIRST_NAMESPACES, save } from "./writes.ts";

/**
 * Removes an object; one that has finalizers waits for them. What it owns stays: nothing collects garbage in a directory. A
 * Namespace takes all that is in it along, and is gone when the last of it is.
 */
export async function removeObject(
  store: ObjectStore,
  ref: ObjectRef,
  call: Call,
  preconditions: RemoveOptions = {},
): Promise<void> {
  const isNamespace = isKind(ref, "", "Namespace");
  if (isNamespace && FIRST_NAMESPACES.has(ref.name)) {
    const message = `namespaces "${ref.name}" is forbidden: this namespace may not be deleted`;
    throw refuse(call, { status: 403, reason: "Forbidden", message });
  }
  const live = await store.load(ref, call);
  if (live === undefined) return;
  checkIsMeant(live, preconditions, call);
  await (isNamespace ? endNamespace(store, live, call) : end(store, live, call));
}

/** A Namespace that is being deleted goes with the last object in it. */
export async function endNamespaceIfEmpty(
  store: ObjectStore,
  namespace: string | undefined,
  call: Call,
): Promise<void> {
  if (namespace === undefined) return;
  const found = await store.load({ apiVersion: "v1", kind: "Namespace", name: namespace }, call);
  if (found?.metadata.deletionTimestamp === undefined || (await store.loadEvery(namespace)).length > 0) return;
  await end(store, found, call);
}

function checkIsMeant({ kind, metadata }: KubeObject, { uid, resourceVersion }: RemoveOptions, call: Call): void {
  const refuseFor = (field: string, wanted: string, is: string | undefined, why: string) => {
    const differs = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${is})`;
    const message = `Operation cannot be fulfilled on ${kind} "${metadata.name}": ${differs}. The object might have been ${why}`;
    return refuse(call, { status: 409, reason: "Conflict", message });
  };
  if (uid !== undefined && uid !== metadata.uid)
    throw refuseFor("UID", uid, metadata.uid, "deleted and then recreated");
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw refuseFor("ResourceVersion", resourceVersion, metadata.resourceVersion, "modified");
}

async function end(store: ObjectStore, live: KubeObject, call: Call): Promise<void> {
  if ((live.metadata.finalizers ?? []).length === 0) {
    await store.drop(refOf(live), call);
    await endNamespaceIfEmpty(store, live.metadata.namespace, call);
  } else if (live.metadata.deletionTimestamp === undefined) {
    await save(store, asGoing(live, now()), { call, dryRun: false });
  }
}

async function endNamespace(store: ObjectStore, live: KubeObject, call: Call): Promise<void> {
  const { name, deletionTimestamp } = live.metadata;
  if (deletionTimestamp === undefined) {
    const going = { ...asGoing(live, now()), status: { phase: "Terminating" } };
    await save(store, going, { call, dryRun: false });
  }
  for (const object of await store.loadEvery(name)) await end(store, object, call);
  await endNamespaceIfEmpty(store, name, call);
}

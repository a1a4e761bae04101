import type { KubeObject } from "../../api/schema/meta.ts";
import type { JsonPatchOperation, MergePatch } from "../client.ts";
import { completeName } from "../generated-name.ts";
import { refOf, type ObjectRef } from "../path.ts";
import { now } from "../time.ts";
import { asChanged, asCreated, born, completed, isOver, withStatus } from "./lifecycle.ts";
import { applied, isUnchanged, updated, type Part, type Writer } from "./managers.ts";
import { patched, PatchError } from "./patches.ts";
import { alreadyExists, badRequest, conflict, invalid, notFound, refuse, type Call } from "./refusals.ts";
import type { ObjectStore } from "./store.ts";
import { groupOf, isBuiltInGroup } from "./traits.ts";

/** One write: of which part, under which name, and whether it is only tried. */
export interface Write {
  readonly call: Call;
  readonly part: Part;
  readonly manager: string;
  readonly dryRun: boolean;
}

/** Creates an object, with a name of its own if it has only the beginning of one. */
export async function createObject(store: ObjectStore, object: KubeObject, write: Write): Promise<KubeObject> {
  const named = withName(object);
  const ref = refOf(named);
  if (named.metadata.resourceVersion !== undefined)
    throw badRequest(write.call, "resourceVersion should not be set on objects to be created");
  const there = await store.load(ref, write.call);
  if (there !== undefined)
    throw alreadyExists(write.call, ref, ref.name, there.metadata.deletionTimestamp !== undefined);
  await checkNamespace(store, ref, write.call);
  const writer = writerOf(write, ref);
  const begun = born(named, writer.at);
  const created = asCreated(named, begun, write.call);
  return save(store, updated(begun, created, writer), write);
}

/** Replaces an object, or its status. */
export async function replaceObject(store: ObjectStore, object: KubeObject, write: Write): Promise<KubeObject> {
  const ref = refOf(object);
  const live = await loadPresent(store, ref, write.call);
  if (object.metadata.resourceVersion === undefined && !isBuiltInGroup(groupOf(ref.apiVersion)))
    throw invalid(write.call, ref, "metadata.resourceVersion", "Invalid value: 0: must be specified for an update");
  return change(store, live, object, write);
}

/** Patches an object, or its status. */
export async function patchObject(
  store: ObjectStore,
  ref: ObjectRef,
  patch: MergePatch | readonly JsonPatchOperation[],
  write: Write,
): Promise<KubeObject> {
  const live = await loadPresent(store, ref, write.call);
  return change(store, live, patchedObject(live, patch, write.call), write);
}

/** Applies an object, or its status, on the server's side; an object that is not there is created. */
export async function applyObject(store: ObjectStore, object: KubeObject, write: Write): Promise<KubeObject> {
  const ref = refOf(object);
  const live = await store.load(ref, write.call);
  const writer = writerOf(write, ref);
  if (live === undefined) return applyNew(store, object, writer, write);
  checkPreconditions(asked(live, ref), object, write.call);
  const before = asked(live, ref);
  const next = applied(before, completed(object), writer);
  const whole = write.part === "status" ? withStatus(before, next) : asChanged(before, next, write.call);
  return saveChange(store, before, withManagers(whole, next), write);
}

async function applyNew(store: ObjectStore, object: KubeObject, writer: Writer, write: Write): Promise<KubeObject> {
  const ref = refOf(object);
  const { uid } = object.metadata;
  if (write.part === "status") throw notFound(write.call, ref, ref.name);
  if (uid !== undefined) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(write.call, ref, ref.name, why);
  }
  await checkNamespace(store, ref, write.call);
  const begun = born(object, writer.at);
  const next = applied(begun, completed(object), writer);
  return save(store, withManagers(asCreated(next, begun, write.call), next), write);
}

/** The object as the caller asked for it: all versions of a kind have the same content here. */
export function asked<T extends KubeObject>(object: KubeObject, { apiVersion }: { readonly apiVersion: string }): T {
  return { ...object, apiVersion } as T;
}

/** The object, or the error that says that there is none. */
export async function loadPresent(store: ObjectStore, ref: ObjectRef, call: Call): Promise<KubeObject> {
  const live = await store.load(ref, call);
  if (live === undefined) throw notFound(call, ref, ref.name);
  return asked(live, ref);
}

/** Throws a conflict when the object is another one than `wanted` says, or has changed since. */
export function checkPreconditions(live: KubeObject, { metadata }: Pick<KubeObject, "metadata">, call: Call): void {
  const { uid, resourceVersion, name } = live.metadata;
  if (metadata.uid !== undefined && metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
    throw conflict(call, live, name, why);
  }
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion) {
    const why = "the object has been modified; please apply your changes to the latest version and try again";
    throw conflict(call, live, name, why);
  }
}

async function change(store: ObjectStore, live: KubeObject, next: KubeObject, write: Write): Promise<KubeObject> {
  checkPreconditions(live, next, write.call);
  const whole = write.part === "status" ? withStatus(live, next) : asChanged(live, next, write.call);
  return saveChange(store, live, updated(live, whole, writerOf(write, live)), write);
}

/** Saves a change; one that changes nothing has no version of its own, and one that takes the last finalizer ends the object. */
async function saveChange(store: ObjectStore, live: KubeObject, next: KubeObject, write: Write): Promise<KubeObject> {
  if (isUnchanged(live, next)) return live;
  if (!isOver(next)) return save(store, next, write);
  if (!write.dryRun) await store.drop(refOf(next), write.call);
  return next;
}

/** Saves an object under a new version. */
export async function save(store: ObjectStore, object: KubeObject, { call, dryRun }: Pick<Write, "call" | "dryRun">) {
  if (dryRun) return object;
  const resourceVersion = String(await store.nextVersion());
  const saved = { ...object, metadata: { ...object.metadata, resourceVersion } };
  await store.save(saved, call);
  return saved;
}

/** Nothing begins in a namespace that is not there, or is going. A folder with objects in it, written by hand, is one, too. */
async function checkNamespace(store: ObjectStore, { namespace, ...ref }: ObjectRef, call: Call): Promise<void> {
  if (namespace === undefined) return;
  const type = { apiVersion: "v1", kind: "Namespace" };
  const found = await store.load({ ...type, name: namespace }, call);
  if (found?.metadata.deletionTimestamp !== undefined) throw terminating(ref, namespace, call);
  if (found !== undefined || FIRST_NAMESPACES.has(namespace)) return;
  if ((await store.loadEvery(namespace)).length === 0) throw notFound(call, type, namespace);
}

/** Every cluster has them from its first moment. */
export const FIRST_NAMESPACES: ReadonlySet<string> = new Set([
  "default",
  "kube-system",
  "kube-public",
  "kube-node-lease",
]);

function terminating({ name }: Pick<ObjectRef, "name">, namespace: string, call: Call) {
  const message = `${JSON.stringify(name)} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  return refuse(call, { status: 403, reason: "Forbidden", message, causes: [cause] });
}

function patchedObject(live: KubeObject, patch: MergePatch | readonly JsonPatchOperation[], call: Call): KubeObject {
  try {
    return patched(live, patch) as KubeObject;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = `the server rejected our request due to an error in our request: ${error.message}`;
    throw refuse(call, { status: 422, reason: "Invalid", message });
  }
}

function withName(object: KubeObject): KubeObject {
  const { name, generateName } = object.metadata as Partial<KubeObject["metadata"]>;
  if (name !== undefined || generateName === undefined) return object;
  return { ...object, metadata: { ...object.metadata, name: completeName(generateName) } };
}

function withManagers(object: KubeObject, { metadata: { managedFields } }: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(managedFields !== undefined && { managedFields }) } };
}

function writerOf({ manager, part }: Write, { apiVersion }: { readonly apiVersion: string }): Writer {
  return { manager, part, apiVersion, at: now() };
}

import type { Condition } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { KubeError, type KubeClient, type ObjectRef } from "../../../src/kube/index.ts";

/** One write of the controller: the object as it was, and as it is then. */
export interface Write {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
}

/** A model of an API server: as much of it as one pass of the endpoint controller asks. */
export interface Store {
  /** What the controller is given. It keeps uids and resource versions as a server does. */
  readonly client: KubeClient;
  /** All writes of the controller so far. */
  readonly writes: Write[];
  objects(kind: string): KubeObject[];
  get(kind: string, name: string): KubeObject | undefined;
  /** What others do: they create or replace. */
  put(object: KubeObject): KubeObject;
  drop(kind: string, name: string): void;
}

/** Four writes fall into one second, so that some objects are of one age. `onCall` is called before the controller's calls, `onWrite` after its writes. */
export function createStore(o: { onCall(): void; onWrite(write: Write): void }): Store {
  const all = new Map<string, KubeObject>();
  const writes: Write[] = [];
  let version = 0;
  const idOf = (kind: string, name: string) => `${kind}/${name}`;
  const find = (kind: string, name: string) => all.get(idOf(kind, name));

  function put(object: KubeObject): KubeObject {
    const { kind, metadata } = object;
    const old = find(kind, metadata.name);
    const isSame = old !== undefined && JSON.stringify(old["spec"]) === JSON.stringify(object["spec"]);
    const generation = old === undefined ? 1 : (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
    version++;
    const {
      uid = `uid-${version}`,
      creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, version >> 2)).toISOString(),
    } = old?.metadata ?? metadata;
    const made = {
      ...object,
      metadata: { ...metadata, uid, creationTimestamp, generation, resourceVersion: String(version) },
    };
    all.set(idOf(kind, metadata.name), made);
    return made;
  }

  function write(object: KubeObject): KubeObject {
    const before = find(object.kind, object.metadata.name);
    const after = put(object);
    writes.push({ before, after });
    o.onWrite({ before, after });
    return after;
  }

  /** As a server refuses: what is bound to an object that has gone or changed. */
  function expectSeen(
    { kind, name }: ObjectRef,
    { uid, resourceVersion }: Partial<KubeObject["metadata"]>,
  ): KubeObject {
    const present = find(kind, name);
    if (present === undefined) throw refuse(404, "NotFound");
    const { metadata } = present;
    if (
      (uid ?? metadata.uid) !== metadata.uid ||
      (resourceVersion ?? metadata.resourceVersion) !== metadata.resourceVersion
    )
      throw refuse(409, "Conflict");
    return present;
  }

  const calls = {
    read: async (of: ObjectRef, key?: { readonly name: string }) => find(of.kind, key?.name ?? of.name),
    list: async ({ kind }: { readonly kind: string }, { labelSelector = "" }: { readonly labelSelector?: string }) => {
      const [label = "", value] = labelSelector.split("=");
      return objects(kind).filter(({ metadata }) => metadata.labels?.[label] === value);
    },
    create: async (object: KubeObject) => {
      if (find(object.kind, object.metadata.name) !== undefined) throw refuse(409, "AlreadyExists");
      return write(object);
    },
    patch: async (ref: ObjectRef, patch: { readonly metadata?: KubeObject["metadata"] }) => {
      const { uid: _, resourceVersion: __, ...metadata } = patch.metadata ?? {};
      const present = expectSeen(ref, patch.metadata ?? {});
      return write(merge(present, { ...patch, metadata }) as KubeObject);
    },
    applyStatus: async (object: KubeObject) => {
      const present = expectSeen({ ...object, name: object.metadata.name }, object.metadata);
      const said = conditionsOf(object);
      const others = conditionsOf(present).filter(({ type }) => !said.some((one) => one.type === type));
      return write({ ...present, status: { conditions: [...others, ...said] } });
    },
  };
  const objects = (kind: string) => [...all.values()].filter((object) => object.kind === kind);
  const asked = Object.entries(calls).map(([name, call]) => [
    name,
    async (...args: never[]) => {
      o.onCall();
      return await (call as (...given: never[]) => Promise<unknown>)(...args);
    },
  ]);
  const client = Object.fromEntries(asked) as unknown as KubeClient;
  return { client, writes, objects, get: find, put, drop: (kind, name) => void all.delete(idOf(kind, name)) };
}

const conditionsOf = (object: KubeObject): readonly Condition[] =>
  (object["status"] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

const refuse = (status: number, reason: string) => new KubeError(reason, { status, reason, retryable: false });

/** A JSON merge patch. */
function merge(present: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = { ...(present as object | undefined) } as Record<string, unknown>;
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  return merged;
}

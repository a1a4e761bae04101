import { pathToFileURL } from "node:url";
import type { Key, TypeRef } from "../../api/schema/kind.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { JsonPatchOperation, KubeClient, MergePatch, Selection, WriteOptions } from "../client.ts";
import type { ResourceType } from "../discovery.ts";
import { KubeError } from "../errors.ts";
import { inWords, refOf, refTo, type ObjectRef } from "../path.ts";
import { parseJson } from "../../parsing.ts";
import { nameOfCollection } from "../requests.ts";
import { now } from "../time.ts";
import { born, isKind, isOver } from "./lifecycle.ts";
import type { Part } from "./managers.ts";
import { namespaceOf } from "./places.ts";
import { notServed, type Call } from "./refusals.ts";
import { endNamespaceIfEmpty, removeObject } from "./removal.ts";
import { selectorOf } from "./selectors.ts";
import { createObjectStore, type ObjectStore } from "./store.ts";
import { groupOf, pluralOf, scopeOf } from "./traits.ts";
import { applyObject, asked, createObject, patchObject, replaceObject, save, type Write } from "./writes.ts";

/** Where the objects are, and under which name they are written, "perennial" unless told otherwise. */
export interface DirectoryClientOptions {
  /** Made by the first write, for its owner alone. */
  readonly directory: string;
  readonly fieldManager?: string;
}

/** A KubeClient whose cluster is a directory. */
export interface DirectoryClient extends KubeClient {
  /**
   * Every object of every kind, as it is stored, in an order in which they can be created: Namespaces, then definitions of
   * kinds, then the rest. For who moves them into an API server, and removes the directory after that.
   */
  all(): Promise<KubeObject[]>;
}

/**
 * A client of a directory that stands for a cluster while there is no API server: one YAML file per object, whole and on
 * the disk when a write returns. It answers as an API server does, with these differences: it serves every kind without
 * asking for a definition, so it neither validates nor defaults fields; nothing collects what a removed owner leaves; it
 * has no watches. One process writes at a time, through one client; others may read meanwhile. Files may be written by
 * hand between: an object without a uid gets one when it is first read.
 */
export function createDirectoryClient({
  directory,
  fieldManager = "perennial",
}: DirectoryClientOptions): DirectoryClient {
  const store = createObjectStore(directory);
  const server = pathToFileURL(directory).href;
  const connection = { store, server, fieldManager };
  return {
    server,
    ...reads(connection),
    ...writes(connection),
    ...removals(connection),
    all: () =>
      run(connection, "list all objects", async (call) =>
        ordered(await adoptAll(store, await store.loadEvery(), call)),
      ),
    types: () => run(connection, "list all kinds", async () => typesOf(await store.loadEvery())),
    get: (path) => run(connection, `get ${path}`, (call) => answer(path, call)),
    close: () => store.alone(() => Promise.resolve()),
  };
}

interface Connection {
  readonly store: ObjectStore;
  readonly server: string;
  readonly fieldManager: string;
}

type Reads = "read" | "list" | "metadata" | "snapshot" | "watch";

function reads(connection: Connection): Pick<DirectoryClient, Reads> {
  const { store } = connection;
  const list = <T extends KubeObject>(type: TypeRef<T>, selection: Selection = {}): Promise<T[]> =>
    run(connection, nameOfCollection("list", type, selection.namespace), (call) =>
      listObjects<T>(store, type, selection, call),
    );
  return {
    read: <T extends KubeObject>(type: TypeRef<T> | ObjectRef<T>, key?: Key) => {
      const ref = key === undefined ? (type as ObjectRef) : refTo(type, key);
      return run(connection, `read ${inWords(ref)}`, async (call) => {
        const found = await store.load(ref, call);
        return found === undefined ? undefined : asked<T>(await adopt(store, found, call), ref);
      });
    },
    list,
    async *metadata(type, selection) {
      yield* await list(type, { ...selection, metadataOnly: true });
    },
    snapshot: <T extends KubeObject>(type: TypeRef<T>, selection: Selection = {}) =>
      run(connection, nameOfCollection("list", type, selection.namespace), async (call) => ({
        items: await listObjects<T>(store, type, selection, call),
        resourceVersion: String(await store.version()),
      })),
    // eslint-disable-next-line require-yield -- nothing is ever seen; what asks for it learns why with the first event
    async *watch(type, { namespace }) {
      throw notServed(callOf(connection, nameOfCollection("watch", type, namespace)), "watch");
    },
  };
}

type Writes = "apply" | "applyStatus" | "create" | "createSubresource" | "replace" | "replaceStatus" | "patch";

function writes(connection: Connection): Pick<DirectoryClient, Writes> {
  const { store } = connection;
  const send = <T extends KubeObject>([verb, part]: Way, ref: ObjectRef, o: WriteOptions, act: Act): Promise<T> =>
    run(connection, `${verb} ${inWords(ref)}`, async (call) => {
      const { fieldManager = connection.fieldManager, dryRun = false } = o;
      const written = await act({ call, part, manager: fieldManager, dryRun });
      if (isOver(written) && !dryRun) await endNamespaceIfEmpty(store, written.metadata.namespace, call);
      return written as T;
    });
  const sendWhole = <T extends KubeObject>(way: Way, object: T, o: WriteOptions, act: Whole): Promise<T> =>
    send(way, refOf(object), o, (write) => act(store, placed(object, write.call), write));
  return {
    apply: (object, o = {}) => sendWhole(["apply", "main"], object, o, applyObject),
    applyStatus: (object, o = {}) => sendWhole(["apply the status of", "status"], object, o, applyObject),
    create: (object, o = {}) => sendWhole(["create", "main"], object, o, createObject),
    createSubresource: (ref, subresource) =>
      run(connection, `create a ${subresource} of ${inWords(ref)}`, (call) =>
        Promise.reject(notServed(call, subresource)),
      ),
    replace: (object) => sendWhole(["replace", "main"], object, {}, replaceObject),
    replaceStatus: (object) => sendWhole(["replace the status of", "status"], object, {}, replaceObject),
    patch: (ref, patch, { subresource, ...o } = {}) =>
      send(["patch", subresource === undefined ? "main" : "status"], ref, o, (write) => {
        if (subresource === "scale") throw notServed(write.call, subresource);
        return patchObject(store, ref, plain(patch), write);
      }),
  };
}

type Way = readonly [verb: string, part: Part];

type Whole = (store: ObjectStore, object: KubeObject, write: Write) => Promise<KubeObject>;

type Act = (write: Write) => Promise<KubeObject>;

function removals(connection: Connection): Pick<DirectoryClient, "remove" | "removeAll"> {
  const { store } = connection;
  return {
    remove: (ref, o) => run(connection, `remove ${inWords(ref)}`, (call) => removeObject(store, ref, call, o)),
    removeAll: (type, selection) =>
      run(connection, nameOfCollection("remove all", type, selection.namespace), async (call) => {
        for (const object of await listObjects(store, type, selection, call))
          await removeObject(store, refOf(object), call);
      }),
  };
}

/** Does one call when those before it have ended. What the disk refuses may be granted later. */
function run<T>(connection: Connection, what: string, act: (call: Call) => Promise<T>): Promise<T> {
  return connection.store.alone(async () => {
    try {
      return await act(callOf(connection, what));
    } catch (error) {
      if (error instanceof KubeError || !(error instanceof Error) || error.message.startsWith("cannot ")) throw error;
      const retryable = "syscall" in error;
      const details = { status: 500, reason: "InternalError", server: connection.server, retryable };
      throw new KubeError(`cannot ${what}: ${error.message}`, details, { cause: error });
    }
  });
}

const callOf = ({ server }: Connection, what: string): Call => ({ what, server });

async function listObjects<T extends KubeObject>(
  store: ObjectStore,
  type: TypeRef<T>,
  selection: Selection,
  call: Call,
): Promise<T[]> {
  const isSelected = selectorOf(selection, call);
  const namespace = scopeOf(type) === "Cluster" ? undefined : selection.namespace;
  const found = await adoptAll(store, await store.loadAll(type, namespace, call), call);
  const selected = found.map((object) => asked<T>(object, type)).filter(isSelected);
  return selection.metadataOnly
    ? selected.map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) as T)
    : selected;
}

/** An object that was written by hand begins to exist when it is first read. */
async function adopt(store: ObjectStore, object: KubeObject, call: Call): Promise<KubeObject> {
  if (object.metadata.uid !== undefined && object.metadata.resourceVersion !== undefined) return object;
  const { metadata } = born(object, now());
  return save(store, { ...object, metadata: { ...metadata, ...object.metadata } }, { call, dryRun: false });
}

async function adoptAll(store: ObjectStore, objects: readonly KubeObject[], call: Call): Promise<KubeObject[]> {
  const adopted: KubeObject[] = [];
  for (const object of objects) adopted.push(await adopt(store, object, call));
  return adopted;
}

/** The object as it would come over the wire, in a namespace exactly when its kind has them. */
function placed(object: KubeObject, call: Call): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  const namespace = namespaceOf(refOf(object), call);
  return plain({ ...object, metadata: { ...metadata, ...(namespace !== undefined && { namespace }) } });
}

function plain<T extends KubeObject | MergePatch | readonly JsonPatchOperation[]>(value: T): T {
  return parseJson(JSON.stringify(value), "what is written") as T;
}

function ordered(objects: readonly KubeObject[]): KubeObject[] {
  const rank = (object: KubeObject): number => {
    if (isKind(object, "", "Namespace")) return 0;
    return isKind(object, "apiextensions.k8s.io", "CustomResourceDefinition") ? 1 : 2;
  };
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

function typesOf(objects: readonly KubeObject[]): ResourceType[] {
  const types = new Map<string, ResourceType>();
  for (const { apiVersion, kind, metadata } of objects) {
    const type = {
      apiVersion,
      kind,
      plural: pluralOf({ apiVersion, kind }),
      namespaced: metadata.namespace !== undefined,
      verbs: VERBS,
    };
    types.set(`${kind}.${groupOf(apiVersion)}`, type);
  }
  return [...types.values()];
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update"];

function answer(path: string, call: Call): Promise<unknown> {
  if (["/healthz", "/livez", "/readyz"].includes(path)) return Promise.resolve("ok");
  return Promise.reject(notServed(call, path));
}

import type { Key, TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Logger } from "../log.ts";
import { omitUndefined } from "../omit-undefined.ts";
import type { Bounds } from "./bounds.ts";
import type {
  JsonPatchOperation,
  KubeClient,
  MergePatch,
  PatchOptions,
  RemoveAllOptions,
  RemoveOptions,
  Selection,
} from "./client.ts";
import { createCredentialSource, type ClusterSource } from "./credentials.ts";
import { createDiscovery } from "./discovery.ts";
import { unlessGone } from "./errors.ts";
import { pathOf, queryOf, refOf, refTo, typeMeta, type ObjectRef } from "./path.ts";
import {
  acceptMetadata,
  listAll,
  listMetadata,
  nameOfCollection,
  sendObject,
  sendTo,
  writeQuery,
  type Connection,
} from "./requests.ts";
import { createTransport } from "./transport.ts";
import { readWatch, type WatchEvent } from "./watch-stream.ts";

/** How a client is made; `fieldManager` is the name of its writes, "perennial" unless told otherwise. */
export interface KubeClientOptions {
  readonly log?: Logger;
  readonly userAgent?: string;
  readonly fieldManager?: string;
  /** Is told what the API server warns of when something is written. */
  readonly onWarning?: (text: string) => void;
  /** For clusters whose users are not trusted with this process's memory. No limits unless told otherwise. */
  readonly bounds?: Bounds;
}

/** A client of one cluster. Throws at once for an unusable source; connects with the first call. */
export function createKubeClient(source: ClusterSource, o: KubeClientOptions = {}): KubeClient {
  const { log, onWarning, bounds, userAgent = "perennial", fieldManager = "perennial" } = o;
  const credentials = createCredentialSource(source);
  const transport = createTransport({ credentials, userAgent, ...omitUndefined({ log, onWarning, bounds }) });
  const connection = { transport, discovery: createDiscovery(transport), fieldManager, bounds };
  return {
    server: transport.server,
    ...omitUndefined({ bounds }),
    ...reads(connection),
    ...writes(connection),
    remove: (ref, options) => removeOne(connection, ref, options),
    removeAll: (type, options) => removeAll(connection, type, options),
    types: () => connection.discovery.all(),
    get: (path, options) => transport.call({ what: `get ${path}`, path, accept: "*/*", ...options }),
    close: () => transport.close(),
  };
}

function reads(connection: Connection): Pick<KubeClient, "read" | "list" | "metadata" | "snapshot" | "watch"> {
  return {
    read: <T extends KubeObject>(type: TypeRef<T> | ObjectRef<T>, key?: Key) => {
      const ref = key === undefined ? (type as ObjectRef) : refTo(type, key);
      return unlessGone(sendTo(connection, ["read", "GET"], ref)) as Promise<T | undefined>;
    },
    list: async (type, selection) => (await listAll(connection, type, selection)).items,
    metadata: (type, selection) => listMetadata(connection, type, selection),
    snapshot: (type, selection) => listAll(connection, type, selection),
    watch: (type, from) => watch(connection, type, from),
  };
}

/** The server ends the stream after four to eight minutes, so that the watches of many clients do not end together. */
async function* watch<T extends KubeObject>(
  { transport, discovery, bounds }: Connection,
  type: TypeRef<T>,
  {
    namespace,
    signal,
    metadataOnly,
    ...selectors
  }: Selection & { readonly resourceVersion: string; readonly signal: AbortSignal },
): AsyncIterable<WatchEvent<T>> {
  const what = nameOfCollection("watch", type, namespace);
  const path = pathOf(await discovery.find(type, what), omitUndefined({ namespace }), undefined, what);
  const timeoutSeconds = 240 + Math.floor(Math.random() * 240);
  const query = queryOf({ ...selectors, watch: true, allowWatchBookmarks: true, timeoutSeconds });
  const accept = metadataOnly && acceptMetadata("PartialObjectMetadata");
  const body = await transport.stream({ what, path: path + query, signal, ...omitUndefined({ accept }) });
  for await (const event of readWatch<T>(what, body, transport.server, bounds?.largestAnswer))
    yield metadataOnly && event.type !== "BOOKMARK"
      ? { ...event, object: { ...event.object, ...typeMeta(type) } }
      : event;
}

type Writes = "apply" | "applyStatus" | "create" | "createSubresource" | "replace" | "replaceStatus" | "patch";

function writes(connection: Connection): Pick<KubeClient, Writes> {
  return {
    apply: (object, o) =>
      sendObject(connection, ["apply", "PATCH"], object, {
        contentType: applyPatch,
        query: { ...writeQuery(connection, o), force: true },
      }),
    applyStatus: (object, o) =>
      sendObject(connection, ["apply the status of", "PATCH"], object, {
        contentType: applyPatch,
        subresource: "status",
        query: { ...writeQuery(connection, o), force: true },
      }),
    create: (object, o) => sendObject(connection, ["create", "POST"], object, { query: writeQuery(connection, o) }),
    createSubresource: <T extends KubeObject>(ref: ObjectRef, subresource: string, body: T) =>
      sendTo(connection, [`create a ${subresource} of`, "POST"], ref, { body, subresource }) as Promise<T>,
    replace: (object) => sendObject(connection, ["replace", "PUT"], object),
    replaceStatus: (object) =>
      sendObject(connection, ["replace the status of", "PUT"], object, { subresource: "status" }),
    patch: <T extends KubeObject>(
      ref: ObjectRef<T>,
      patch: MergePatch | readonly JsonPatchOperation[],
      { subresource, ...o }: PatchOptions = {},
    ) =>
      sendTo(connection, ["patch", "PATCH"], ref, {
        body: patch,
        contentType: Array.isArray(patch) ? "application/json-patch+json" : "application/merge-patch+json",
        query: writeQuery(connection, o),
        ...omitUndefined({ subresource }),
      }) as Promise<T>,
  };
}

async function removeOne(
  connection: Connection,
  ref: ObjectRef,
  { uid, resourceVersion, ...options }: RemoveOptions = {},
): Promise<void> {
  const preconditions = omitUndefined({ uid, resourceVersion });
  const body = {
    propagationPolicy: "Background",
    ...options,
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  };
  await unlessGone(sendTo(connection, ["remove", "DELETE"], ref, { body }));
}

/** One request where the server can delete the collection, else one per object. */
async function removeAll(
  connection: Connection,
  type: TypeRef,
  { namespace, labelSelector, fieldSelector, ...options }: Selection & RemoveAllOptions,
): Promise<void> {
  const { transport, discovery } = connection;
  const what = nameOfCollection("remove all", type, namespace);
  const found = await unlessGone(discovery.find(type, what));
  if (found === undefined) return;
  const selectors = omitUndefined({ labelSelector, fieldSelector });
  if (found.verbs.includes("deletecollection") && (namespace !== undefined || !found.namespaced)) {
    const path = pathOf(found, omitUndefined({ namespace }), undefined, what) + queryOf(selectors);
    const body = { propagationPolicy: "Background", ...options };
    await transport.call({ what, method: "DELETE", path, body });
    return;
  }
  const { items } = await listAll(connection, type, { ...selectors, ...omitUndefined({ namespace }) });
  for (const item of items)
    await removeOne(connection, refOf(item), { ...options, ...omitUndefined({ uid: item.metadata.uid }) });
}

const applyPatch = "application/apply-patch+yaml";

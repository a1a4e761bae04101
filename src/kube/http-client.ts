import type { Key, TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Logger } from "../log.ts";
import type {
  JsonPatchOperation,
  KubeClient,
  MergePatch,
  PatchOptions,
  Selection,
  Snapshot,
  WriteOptions,
} from "./client.ts";
import { createCredentialSource, type ClusterSource } from "./credentials.ts";
import { createDiscovery } from "./discovery.ts";
import { unlessGone } from "./errors.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { inWords, pathOf, queryOf, refOf, refTo, type ObjectRef, type Query } from "./path.ts";
import { createTransport } from "./transport.ts";
import { readWatch } from "./watch-stream.ts";

/** How a client is made; `fieldManager` is the name of its writes, "perennial" unless told otherwise. */
export interface KubeClientOptions {
  readonly log?: Logger;
  readonly userAgent?: string;
  readonly fieldManager?: string;
}

/** Opens the door; throws at once for an unusable source, connects with the first call. */
export function createKubeClient(source: ClusterSource, o: KubeClientOptions = {}): KubeClient {
  const credentials = createCredentialSource(source);
  const transport = createTransport({
    credentials,
    userAgent: o.userAgent ?? "perennial",
    ...omitUndefined({ log: o.log }),
  });
  const discovery = createDiscovery(transport);

  async function send(verb: string, method: Method, ref: ObjectRef, request: Request = {}): Promise<unknown> {
    const what = `${verb} ${inWords(ref)}`;
    const type = await discovery.find(ref, what);
    // POST goes to the collection, everything else to the object itself.
    const target = method === "POST" ? omitUndefined({ namespace: ref.namespace }) : ref;
    const path = pathOf(type, target, request.subresource, what) + queryOf(request.query ?? {});
    const { body, contentType } = request;
    return transport.call({ what, method, path, ...omitUndefined({ body, contentType }) });
  }

  // Sent with every write: the API server's own idea of the name, from the user agent, does not reach admission.
  const written = ({ fieldManager = o.fieldManager ?? "perennial", dryRun = false }: WriteOptions = {}) => ({
    fieldManager,
    ...omitUndefined({ dryRun: dryRun ? "All" : undefined }),
  });

  const put = <T extends KubeObject>(verb: string, method: Method, object: T, request: Request = {}) =>
    send(verb, method, refOf(object), {
      body: withoutManagedFields(object),
      ...request,
      query: { ...written(), ...request.query, fieldValidation: "Strict" },
    }) as Promise<T>;

  async function snapshot<T extends KubeObject>(type: TypeRef<T>, selection: Selection = {}): Promise<Snapshot<T>> {
    const { namespace, ...selectors } = selection;
    const what = `list ${type.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
    const path = pathOf(await discovery.find(type, what), omitUndefined({ namespace }), undefined, what);
    const items: T[] = [];
    for (let more: string | undefined; ;) {
      const query = queryOf({ ...selectors, limit: 500, ...omitUndefined({ continue: more }) });
      const page = (await transport.call({ what, path: path + query })) as Page<T>;
      // Items of a list carry no kind of their own.
      for (const item of page.items) items.push({ ...item, apiVersion: type.apiVersion, kind: type.kind });
      more = page.metadata.continue;
      if (!more) return { items, resourceVersion: page.metadata.resourceVersion };
    }
  }

  const client: KubeClient = {
    server: transport.server,
    read: <T extends KubeObject>(type: TypeRef<T> | ObjectRef<T>, key?: Key) =>
      unlessGone(send("read", "GET", key === undefined ? (type as ObjectRef) : refTo(type, key))) as Promise<
        T | undefined
      >,
    list: async (type, selection) => (await snapshot(type, selection)).items,
    snapshot,
    async *watch(type, { namespace, signal, ...selectors }) {
      const what = `watch ${type.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
      const path = pathOf(await discovery.find(type, what), omitUndefined({ namespace }), undefined, what);
      const timeoutSeconds = 240 + Math.floor(Math.random() * 240);
      const query = queryOf({ ...selectors, watch: true, allowWatchBookmarks: true, timeoutSeconds });
      yield* readWatch(what, await transport.stream({ what, path: path + query, signal }));
    },
    apply: (object, options) =>
      put("apply", "PATCH", object, { contentType: applyPatch, query: { ...written(options), force: true } }),
    applyStatus: (object, options) =>
      put("apply the status of", "PATCH", object, {
        contentType: applyPatch,
        subresource: "status",
        query: { ...written(options), force: true },
      }),
    create: (object, options) => put("create", "POST", object, { query: written(options) }),
    replace: (object) => put("replace", "PUT", object),
    replaceStatus: (object) => put("replace the status of", "PUT", object, { subresource: "status" }),
    patch: <T extends KubeObject>(
      ref: ObjectRef<T>,
      patch: MergePatch | readonly JsonPatchOperation[],
      { subresource, ...options }: PatchOptions = {},
    ) =>
      send("patch", "PATCH", ref, {
        body: patch,
        contentType: Array.isArray(patch) ? "application/json-patch+json" : "application/merge-patch+json",
        query: written(options),
        ...omitUndefined({ subresource }),
      }) as Promise<T>,
    async remove(ref, { uid, resourceVersion, ...options } = {}) {
      const preconditions = omitUndefined({ uid, resourceVersion });
      const body = {
        propagationPolicy: "Background",
        ...options,
        ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
      };
      await unlessGone(send("remove", "DELETE", ref, { body }));
    },
    async removeAll(type, { namespace, labelSelector, fieldSelector, ...options }) {
      const what = `remove all ${type.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
      const found = await unlessGone(discovery.find(type, what));
      if (found === undefined) return;
      const body = { propagationPolicy: "Background", ...options };
      const selectors = omitUndefined({ labelSelector, fieldSelector });
      if (found.verbs.includes("deletecollection") && (namespace !== undefined || !found.namespaced)) {
        const path = pathOf(found, omitUndefined({ namespace }), undefined, what) + queryOf(selectors);
        await transport.call({ what, method: "DELETE", path, body });
        return;
      }
      const { items } = await snapshot(type, { ...selectors, ...omitUndefined({ namespace }) });
      for (const item of items)
        await client.remove(refOf(item), { ...options, ...omitUndefined({ uid: item.metadata.uid }) });
    },
    types: () => discovery.all(),
    get: (path) => transport.call({ what: `get ${path}`, path, accept: "*/*" }),
    close: () => transport.close(),
  };
  return client;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Request {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly subresource?: string;
  readonly query?: Query;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

const applyPatch = "application/apply-patch+yaml";

function withoutManagedFields<T extends KubeObject>(object: T): unknown {
  const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}

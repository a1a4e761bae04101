import type { TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { AnswerTooLong, type Bounds } from "./bounds.ts";
import type { Keeping, Selection, Snapshot, WriteOptions } from "./client.ts";
import type { Discovery } from "./discovery.ts";
import { isExpired } from "./errors.ts";
import { inWords, pathOf, queryOf, refOf, type ObjectRef, type Query } from "./path.ts";
import { createRoom } from "./room.ts";
import type { Transport } from "./transport.ts";

/** The connection of a client, what its cluster serves, and the name of its writes. */
export interface Connection {
  readonly transport: Transport;
  readonly discovery: Discovery;
  readonly fieldManager: string;
  readonly bounds?: Bounds | undefined;
}

/** A request about one object. */
export interface ObjectRequest {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly subresource?: string;
  readonly query?: Query;
}

/** The methods of the API server. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Sends one request about one object; `verb` names it in errors. */
export async function sendTo(
  { transport, discovery }: Connection,
  [verb, method]: readonly [verb: string, method: Method],
  ref: ObjectRef,
  request: ObjectRequest = {},
): Promise<unknown> {
  const what = `${verb} ${inWords(ref)}`;
  const type = await discovery.find(ref, what);
  // POST goes to the collection or to a part of the object, everything else to the object itself.
  const target =
    method === "POST" && request.subresource === undefined ? omitUndefined({ namespace: ref.namespace }) : ref;
  const path = pathOf(type, target, request.subresource, what) + queryOf(request.query ?? {});
  const { body, contentType } = request;
  return transport.call({ what, method, path, ...omitUndefined({ body, contentType }) });
}

/** Sends a whole object, without its managed fields; the API server refuses fields that it does not know. */
export async function sendObject<T extends KubeObject>(
  connection: Connection,
  call: readonly [verb: string, method: Method],
  object: T,
  request: ObjectRequest = {},
): Promise<T> {
  const query = { ...writeQuery(connection), ...request.query, fieldValidation: "Strict" };
  return (await sendTo(connection, call, refOf(object), {
    body: withoutManagedFields(object),
    ...request,
    query,
  })) as T;
}

/** The query of a write. It names the field manager, because the name that the API server makes of the user agent does not reach admission. */
export function writeQuery(connection: Connection, { fieldManager, dryRun = false }: WriteOptions = {}): Query {
  return {
    fieldManager: fieldManager ?? connection.fieldManager,
    ...omitUndefined({ dryRun: dryRun ? "All" : undefined }),
  };
}

/** All objects selected, fetched in pages; of each, what is to be kept. */
export async function listAll<T extends KubeObject>(
  connection: Connection,
  type: TypeRef<T>,
  { keep = (object) => object, most = connection.bounds?.largestList, ...selection }: Selection & Keeping<T> = {},
): Promise<Snapshot<T>> {
  const items: T[] = [];
  const room = most === undefined ? undefined : createRoom(type, most);
  let resourceVersion = "";
  for await (const page of listPages<T>(connection, type, selection)) {
    for (const item of page.items) {
      const kept = keep(item);
      room?.take(kept);
      items.push(kept);
    }
    ({ resourceVersion } = page.metadata);
  }
  return { items, resourceVersion };
}

/**
 * The metadata of all objects selected, one page after the other. If the server no longer has the version of the first page, the remaining
 * pages are read at a later one.
 */
export async function* listMetadata(
  connection: Connection,
  type: TypeRef,
  selection: Selection = {},
): AsyncIterable<KubeObject> {
  for await (const page of listPages(connection, type, { ...selection, metadataOnly: true }, "any version"))
    yield* page.items;
}

/** The media type of metadata alone: of one object, as in a watch, or of a list. */
export const acceptMetadata = (as: "PartialObjectMetadata" | "PartialObjectMetadataList"): string =>
  `application/json;as=${as};v=v1;g=meta.k8s.io`;

async function* listPages<T extends KubeObject>(
  { transport, discovery, bounds }: Connection,
  type: TypeRef<T>,
  { namespace, metadataOnly, ...selectors }: Selection,
  versions: "one version" | "any version" = "one version",
): AsyncIterable<Page<T>> {
  const accept = metadataOnly && acceptMetadata("PartialObjectMetadataList");
  const what = nameOfCollection("list", type, namespace);
  const path = pathOf(await discovery.find(type, what), omitUndefined({ namespace }), undefined, what);
  let [limit, refused, read] = [LARGEST_PAGE, 0, 0];
  const readPage = async (
    more: string | undefined,
    mayMoveOn = versions === "any version",
  ): Promise<ReceivedPage<T>> => {
    const query = queryOf({ ...selectors, limit, ...omitUndefined({ continue: more }) });
    try {
      const bounds = { accept, largestAnswer: limit === 1 ? undefined : LONGEST_PAGE };
      const page = (await transport.call({ what, path: path + query, ...omitUndefined(bounds) })) as ReceivedPage<T>;
      read += 1;
      if (read >= refused) [limit, read] = [Math.min(2 * limit, LARGEST_PAGE), 0];
      return page;
    } catch (error) {
      if (mayMoveOn && isExpired(error) && error.continueWith !== undefined)
        return await readPage(error.continueWith, false);
      if (limit === 1 || !(error instanceof Error && error.cause instanceof AnswerTooLong)) throw error;
      // Where objects are large, most pages of more are refused, too: the next attempt comes after as many pages as were.
      [limit, refused, read] = [Math.ceil(limit / 8), Math.min(refused + 1, 8), 0];
      return await readPage(more);
    }
  };
  const mostPages = bounds?.mostPages ?? Infinity;
  let more: string | undefined;
  for (let pages = 1; pages <= mostPages; pages += 1) {
    const { items, metadata } = await readPage(more);
    // Items of a list carry no kind of their own; an empty list of metadata has null for them.
    yield { items: (items ?? []).map((item) => ({ ...item, apiVersion: type.apiVersion, kind: type.kind })), metadata };
    more = metadata.continue;
    if (!more) return;
  }
  throw new Error(`cannot ${what}: the list has more than the ${mostPages} pages that are read of one`);
}

/** In objects. A page that is longer than is read is asked for again with fewer. */
const LARGEST_PAGE = 500;

/**
 * In bytes. The users of a cluster make as many objects as they like, each of up to 1.5 MiB: 500 of these would be more than a process has
 * room for, and as many tiny values would be with far fewer objects. A page of one object is read whatever its length: 1.5 MiB of `{}` take
 * 34 MB. Many kinds are listed at once, so a page is much smaller than what a process has room for.
 */
const LONGEST_PAGE = 8 * 2 ** 20;

type ReceivedPage<T> = Omit<Page<T>, "items"> & { readonly items: readonly T[] | null };

/** A call about a collection, as errors name it: `list Pod in ns`. */
export function nameOfCollection(verb: string, { kind }: TypeRef, namespace: string | undefined): string {
  return `${verb} ${kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

function withoutManagedFields<T extends KubeObject>(object: T): unknown {
  const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}

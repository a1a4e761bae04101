import type { KeyOf, Kind, Scope, TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Bounds } from "./bounds.ts";
import type { ResourceType } from "./discovery.ts";
import type { ObjectRef } from "./path.ts";
import type { WatchEvent } from "./watch-stream.ts";

/**
 * The door to one cluster. Every method throws KubeError, worded "cannot apply Deployment ns/name: reason". A kind known
 * at compile time types what is read of it; of a kind that is only known at run time come KubeObjects.
 */
export interface KubeClient {
  /** Base URL of the API server. */
  readonly server: string;
  /** What is read of the cluster at most; nothing is said of one whose users are trusted. */
  readonly bounds?: Bounds;
  /** The object, or undefined when there is none. */
  read<T extends KubeObject, S extends Scope>(kind: Kind<T, S>, key: KeyOf<S>): Promise<T | undefined>;
  read<T extends KubeObject>(ref: ObjectRef<T>): Promise<T | undefined>;
  /** All objects selected, fetched in pages of 500. */
  list<T extends KubeObject, S extends Scope>(type: TypeRef<T, S>, selection?: Selection<S> & Keeping<T>): Promise<T[]>;
  /** The metadata of all objects selected, and nothing else of them: fetched in pages of 500, of which one is held at a time, and which can be of different versions. */
  metadata<S extends Scope>(type: TypeRef<KubeObject, S>, selection?: Selection<S>): AsyncIterable<KubeObject>;
  /** Like `list`, with the resource version to watch on from. */
  snapshot<T extends KubeObject, S extends Scope>(
    type: TypeRef<T, S>,
    selection?: Selection<S> & Keeping<T>,
  ): Promise<Snapshot<T>>;
  /** Changes after `resourceVersion`, with bookmarks, until the server ends the stream (after minutes) or `signal` aborts it. */
  watch<T extends KubeObject, S extends Scope>(
    type: TypeRef<T, S>,
    from: Selection<S> & { readonly resourceVersion: string; readonly signal: AbortSignal },
  ): AsyncIterable<WatchEvent<T>>;
  /** Server-side apply: creates or updates, takes over fields that others own. */
  apply<T extends KubeObject>(object: T, o?: WriteOptions): Promise<T>;
  /** Server-side apply of the status. */
  applyStatus<T extends KubeObject>(object: T, o?: Omit<WriteOptions, "dryRun">): Promise<T>;
  create<T extends KubeObject>(object: T, o?: WriteOptions): Promise<T>;
  /** Creates a subresource of an object, such as a ServiceAccount's `token`, and returns the answer. */
  createSubresource<T extends KubeObject>(ref: ObjectRef, subresource: string, object: T): Promise<T>;
  /** Replaces the object; with metadata.resourceVersion only if it has not changed since (a conflict otherwise). */
  replace<T extends KubeObject>(object: T): Promise<T>;
  /** Like `replace`, for the status. */
  replaceStatus<T extends KubeObject>(object: T): Promise<T>;
  /** Changes some fields: an object is a merge patch, an array a JSON patch. */
  patch<T extends KubeObject>(
    ref: ObjectRef<T>,
    patch: MergePatch | readonly JsonPatchOperation[],
    o?: PatchOptions,
  ): Promise<T>;
  /** Deletes the object and, in the background, what it owns; one that is gone already is fine. */
  remove(ref: ObjectRef, o?: RemoveOptions): Promise<void>;
  /** Deletes all objects selected. */
  removeAll<S extends Scope>(type: TypeRef<KubeObject, S>, o: Selection<S> & RemoveAllOptions): Promise<void>;
  /** Every kind served, each in the version that the server prefers. */
  types(): Promise<ResourceType[]>;
  /** Raw GET of a path, such as `/readyz` or a pod's log: parsed if the answer is JSON, else text. */
  get(path: string, o?: GetOptions): Promise<unknown>;
  /** Lets calls in flight finish, ends watches, closes the connections. */
  close(): Promise<void>;
}

/** How much is waited for, and read, where others than the API server answer: a pod behind its proxy, for one. */
export interface GetOptions {
  /** Ends the call and its connection, also while the answer comes. */
  readonly signal?: AbortSignal;
  /** In bytes: a longer answer is an error. */
  readonly largestAnswer?: number;
}

/** Which objects of a kind are meant; all of them when nothing is said. */
export interface Selection<S extends Scope = Scope> {
  /** Not for a cluster-scoped kind. */
  readonly namespace?: S extends "Namespaced" ? string : never;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Nothing else of the objects comes over the wire, where they are listed or watched. */
  readonly metadataOnly?: true;
}

/** How much of the objects of a kind is kept in memory: all of it by default. */
export interface Keeping<T> {
  /** Returns what of an object is kept, metadata at least. */
  readonly keep?: (object: T) => T;
  /** In characters of JSON: a list of which more is kept is an error. As much as the client's bounds allow by default. */
  readonly most?: number;
}

/** The objects of a kind at one moment, and the resource version to watch on from. */
export interface Snapshot<T> {
  readonly items: T[];
  readonly resourceVersion: string;
}

/** Under which name a write is made, "perennial" unless told otherwise: admission policies go by it. */
export interface WriteOptions {
  readonly fieldManager?: string;
  /** Everything is checked and nothing written. */
  readonly dryRun?: boolean;
}

/** What of an object is patched: itself, unless a subresource is named. */
export interface PatchOptions {
  readonly subresource?: "status" | "scale" | "approval";
  readonly fieldManager?: string;
}

/**
 * How an object is to be deleted; with `uid`, only that very object, with `resourceVersion`, only if it has not
 * changed since (a conflict otherwise).
 */
export interface RemoveOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
}

/** How objects are to be deleted that are chosen by a selection. */
export type RemoveAllOptions = Omit<RemoveOptions, "uid" | "resourceVersion">;

/** A JSON merge patch: fields to set, `null` for fields to remove. */
export type MergePatch = Readonly<Record<string, unknown>>;

/** One operation of a JSON patch; `test` makes the rest conditional. */
export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "test" | "move" | "copy";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

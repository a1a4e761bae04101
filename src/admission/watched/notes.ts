import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Change } from "../../kube/index.ts";

/** Objects that were admitted and may be written yet. They count besides what is stored, never in its place: many are never written. */
export interface Notes<T extends KubeObject> {
  list(namespace?: string): T[];
  /** Notes an object that is admitted in place of `old`. False where its namespace has as many as it may, and there is no room for it. */
  take(object: T, old?: T): boolean;
  /** Lets go of what this shows to be written, or never to be. */
  settle(change: Change<T>): void;
}

/**
 * No notes. `time` is ms; `heard` is until when all that was written is known to the cache. No question about a note is ever asked
 * of the API server: what its watch has not told of by then was not written.
 */
export function createNotes<T extends KubeObject>({
  keep,
  time,
  heard,
}: {
  readonly keep: (object: T) => T;
  readonly time: () => number;
  readonly heard: () => number;
}): Notes<T> {
  const all = new Map<string, Set<Note<T>>>();
  let total = 0;
  const of = (namespace = "") => [...(all.get(namespace) ?? [])];

  function drop(namespace: string, note: Note<T>): void {
    const notes = all.get(namespace);
    if (notes?.delete(note)) total -= note.size;
    if (notes?.size === 0) all.delete(namespace);
  }

  function expire(): void {
    for (const [namespace, notes] of all)
      for (const note of notes) {
        if (heard() - note.at <= LONGEST_WRITE) break; // later ones are younger
        drop(namespace, note);
      }
  }

  return {
    list(namespace) {
      expire();
      const notes = namespace === undefined ? [...all.values()].flatMap((some) => [...some]) : of(namespace);
      return notes.map(({ object }) => object);
    },
    take(object, old) {
      const kept = keep(object);
      if (old !== undefined && isDeepStrictEqual(contentOf(kept), contentOf(keep(old)))) return true;
      expire();
      const { namespace = "" } = object.metadata;
      const size = NOTE_SIZE + JSON.stringify(kept).length;
      const own = of(namespace);
      const isFull = size + sizeOf(own) > mostBytes.namespace || size + total > mostBytes.all;
      if (own.length > 0 && isFull) return false;
      const note = { object: kept, base: old?.metadata.resourceVersion, at: time(), size };
      all.set(namespace, new Set([...own, note]));
      total += size;
      return true;
    },
    settle({ type, object: { metadata } }) {
      for (const note of of(metadata.namespace)) {
        if (note.object.metadata.name !== metadata.name || note.object.metadata.uid !== metadata.uid) continue;
        if (type === "deleted" || isNewer(metadata.resourceVersion, note.base)) drop(metadata.namespace ?? "", note);
      }
    },
  };
}

interface Note<T> {
  readonly object: T;
  /** The version that it changes: an API server writes it as the next one, or asks about it again. Absent on creation. */
  readonly base: string | undefined;
  readonly at: number;
  readonly size: number;
}

/** In ms: a request ends after 60 s, and a watch tells of what it wrote soon after. */
const LONGEST_WRITE = 70_000;

/** In bytes of JSON. A namespace may have one note whatever others have, so that none keeps another from writing. */
const mostBytes = { namespace: 2 ** 19, all: 2 ** 24 };

/** In bytes: what a note costs besides its JSON, so that small ones are not many. */
const NOTE_SIZE = 4 * 2 ** 10;

const sizeOf = (notes: readonly Note<unknown>[]): number => notes.reduce((sum, { size }) => sum + size, 0);

/** Versions are numbers of any length (Kubernetes: KEP-5504). */
function isNewer(version = "", base = ""): boolean {
  return version.length === base.length ? version > base : version.length > base.length;
}

/** All but the metadata, and the status, which is written by itself. */
function contentOf({ metadata: _, status: __, ...content }: KubeObject): unknown {
  return content;
}

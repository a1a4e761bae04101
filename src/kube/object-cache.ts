import type { KubeObject } from "../api/schema/meta.ts";
import type { Room } from "./room.ts";

/** What happened to an object; `old` is how it was before an update. */
export interface Change<T extends KubeObject> {
  readonly type: "added" | "updated" | "deleted";
  readonly object: T;
  readonly old?: T;
}

/** The objects known, and what each news about them means. An object made anew under its old name is a deletion and an addition. */
export interface ObjectCache<T extends KubeObject> {
  get(name: string, namespace?: string): T | undefined;
  list(namespace?: string): T[];
  /** Takes one event of a watch. */
  take(type: "ADDED" | "MODIFIED" | "DELETED", object: T): Change<T>[];
  /**
   * Takes a complete list; what it lacks was deleted. Yields each change when it is in the cache. Objects are as `keep` has left them, unless
   * there is a `reduce` that is still to be done.
   */
  replaceAll(objects: readonly T[], reduce?: (object: T) => T): Iterable<Change<T>>;
}

/** An empty cache. Of objects it keeps what `keep` leaves, without managedFields, which are a quarter of their size. */
export function createObjectCache<T extends KubeObject>(
  keep: (object: T) => T = (object) => object,
  room?: Room,
): ObjectCache<T> {
  const objects = new Map<string, T>();
  const sizes = new Map<string, number>();

  function put(object: T, reduce: (object: T) => T): Change<T>[] {
    const key = keyOf(object);
    const old = objects.get(key);
    const { resourceVersion } = object.metadata;
    // What `keep` has left of a listed object may be without its version: then it may have changed.
    if (resourceVersion !== undefined && old?.metadata.resourceVersion === resourceVersion) return [];
    const kept = withoutManagedFields(reduce(object));
    if (room !== undefined) sizes.set(key, room.take(kept, sizes.get(key)));
    objects.set(key, kept);
    if (old === undefined) return [{ type: "added", object }];
    if (old.metadata.uid === object.metadata.uid) return [{ type: "updated", object, old }];
    return [
      { type: "deleted", object: old },
      { type: "added", object },
    ];
  }

  function drop(object: T): Change<T>[] {
    const key = keyOf(object);
    room?.free(sizes.get(key) ?? 0);
    sizes.delete(key);
    return objects.delete(key) ? [{ type: "deleted", object }] : [];
  }

  return {
    get: (name, namespace) => objects.get(key(name, namespace)),
    list: (namespace) => {
      const all = [...objects.values()];
      return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
    },
    take: (type, object) => (type === "DELETED" ? drop(object) : put(object, keep)),
    *replaceAll(listed, reduce = (object) => object) {
      const names = new Set(listed.map(keyOf));
      for (const object of [...objects.values()]) if (!names.has(keyOf(object))) yield* drop(object);
      for (const object of listed) yield* put(object, reduce);
    },
  };
}

function keyOf({ metadata }: KubeObject): string {
  return key(metadata.name, metadata.namespace);
}

function key(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

import type { KubeObject } from "../api/schema/meta.ts";
import { omitUndefined } from "../omit-undefined.ts";

/**
 * An object with no more metadata than what tells it from others and from its earlier self, and of its annotations those of these names, where
 * they are short. Who may write an object fills the rest with hundreds of kilobytes, and makes as many objects as there is room for in etcd.
 */
export function inBrief<T extends KubeObject>(object: T, annotations: readonly string[] = []): T {
  const { name, namespace, uid, resourceVersion, generation, ...metadata } = object.metadata;
  const { creationTimestamp, deletionTimestamp, annotations: all = {} } = metadata;
  const kept = Object.entries(all).filter(([key, value]) => annotations.includes(key) && value.length <= LONGEST);
  const times = { creationTimestamp, deletionTimestamp };
  const brief = {
    name,
    ...omitUndefined({ namespace, uid, resourceVersion, generation, ...times }),
    ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
  };
  return { ...object, metadata: brief };
}

/** In characters: longer than any value that controllers act on. */
const LONGEST = 1_024;

import type { Condition, KubeObject } from "../api/schema/meta.ts";
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

/** An object without its status, which others write than who writes the rest of it. */
export function withoutStatus<T extends KubeObject>(object: T): T {
  const { status: _, ...kept } = object as KubeObject;
  return kept as T;
}

/** A text; undefined where it is none, or longer than any that controllers act on. */
export const inShort = (text: unknown): string | undefined =>
  typeof text === "string" && text.length <= LONGEST ? text : undefined;

/** Of each of these types, the first condition, with no more than the fields that conditions have, and of its texts no more than 1,024 characters. */
export function briefConditions(conditions: readonly Condition[] = [], types: readonly string[]): Condition[] {
  return types.flatMap((type) => {
    const found = conditions.find((condition) => condition.type === type);
    if (found === undefined) return [];
    const { lastTransitionTime, lastUpdateTime } = found;
    const [status, reason, message] = [found.status, found.reason, found.message].map(cut);
    return [{ type, status, reason, message, lastTransitionTime, lastUpdateTime } as Condition];
  });
}

/** The beginning of a text. It is copied, as a part of a text keeps the whole of it in memory. */
const cut = (text: string): string =>
  text.length <= LONGEST ? text : Buffer.from(text.slice(0, LONGEST)).toString("utf8");

import type { Key } from "../api/schema/kind.ts";

/** Keys that wait, of which each namespace has its share. */
export interface FairQueue<K extends Key> {
  /** A key that waits already keeps its place. */
  add(key: K): void;
  /** Takes out the key that is next, of those that may be taken now; undefined where there is none. */
  take(mayTake: (id: string) => boolean): K | undefined;
  size(): number;
  clear(): void;
}

/**
 * Namespaces come one after the other, and the keys of each in the order in which they were added: a thousand keys of one namespace
 * delay a key of another by one. A key without a namespace shares with no other.
 */
export function createFairQueue<K extends Key>(): FairQueue<K> {
  const shares = new Map<string, Map<string, K>>();
  let size = 0;

  return {
    add(key) {
      const [whose, id] = [shareOf(key), idOf(key)];
      const share = shares.get(whose) ?? new Map<string, K>();
      if (!share.has(id)) size += 1;
      share.set(id, key);
      shares.set(whose, share);
    },
    take(mayTake) {
      for (const [whose, share] of shares)
        for (const [id, key] of share) {
          if (!mayTake(id)) continue;
          size -= 1;
          share.delete(id);
          shares.delete(whose);
          if (share.size > 0) shares.set(whose, share); // behind all others
          return key;
        }
      return undefined;
    },
    size: () => size,
    clear() {
      shares.clear();
      size = 0;
    },
  };
}

/** A key in one word. */
export const idOf = ({ namespace, name }: Key): string => (namespace === undefined ? name : `${namespace}/${name}`);

const shareOf = ({ namespace, name }: Key): string => (namespace === undefined ? `/${name}` : namespace);

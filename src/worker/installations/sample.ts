/** A few of many names. Adding and removing says whether the few are others now. */
export interface Sample {
  add(name: string): boolean;
  remove(name: string): boolean;
  /** The first few in their order; none only where there are no names at all. */
  names(): readonly string[];
}

/** Names of which the first few are known at any time; of thousands that come and go, few change these. */
export function createSample(size = 2): Sample {
  const all = new Set<string>();
  let first: readonly string[] = [];
  return {
    add(name) {
      all.add(name);
      if (first.includes(name)) return false;
      const last = first.at(-1);
      if (first.length === size && last !== undefined && last < name) return false;
      first = [...first, name].sort().slice(0, size);
      return true;
    },
    remove(name) {
      all.delete(name);
      if (!first.includes(name)) return false;
      first = [...all].sort().slice(0, size);
      return true;
    },
    names: () => first,
  };
}

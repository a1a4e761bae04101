/** Chance that can be repeated: the same seed gives the same choices. */
export interface Chance {
  /** From 0 to below `limit`. */
  below(limit: number): number;
  oneOf<T>(items: readonly [T, ...T[]]): T;
}

/** Mulberry32: 32 bits of state are enough to tell tens of thousands of cases apart. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, oneOf: (items) => items[below(items.length)] ?? items[0] };
}

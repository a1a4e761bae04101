/** A limit that callers share. */
export interface Share {
  /** The most that one caller may hold. */
  readonly own: number;
  /** The most that all callers may hold together. */
  readonly total: number;
}

/** A {@link Share} in use. */
export interface Shares {
  /** Takes the amount for the caller; false, and nothing is taken, when that is more than it may hold now. */
  take(caller: string, amount?: number): boolean;
  give(caller: string, amount?: number): void;
}

/**
 * Shares a total among callers. A caller may hold what is its own, and never more than what is left free for others: one
 * caller holds at most half of the total, N callers that take all they can hold 1/(N+1) each, and a newcomer finds room.
 */
export function createShares({ own, total }: Share): Shares {
  const held = new Map<string, number>();
  let used = 0;
  const add = (caller: string, amount: number) => {
    const now = (held.get(caller) ?? 0) + amount;
    used += amount;
    if (now > 0) held.set(caller, now);
    else held.delete(caller);
  };
  return {
    take(caller, amount = 1) {
      const wanted = (held.get(caller) ?? 0) + amount;
      if (wanted > own || wanted > total - used - amount) return false;
      add(caller, amount);
      return true;
    },
    give: (caller, amount = 1) => add(caller, -amount),
  };
}

/** A rate that callers share. */
export interface Rate {
  /** Counts calls of this cost; false when the caller is faster than it may be now. */
  take(caller: string, cost?: number): boolean;
}

/**
 * Shares a rate, in calls per second, among the callers of the last second: each has its own rate, or an equal part of the
 * total where that is less. A caller that has paused may make the calls of one second at once.
 */
export function createRate({ own, total }: Share, now: () => number = () => performance.now()): Rate {
  const buckets = new Map<string, { level: number; at: number }>();
  let swept = now();
  const sweep = (time: number) => {
    if (time - swept < SECOND) return;
    swept = time;
    for (const [caller, { at }] of buckets) if (time - at >= SECOND) buckets.delete(caller);
  };
  return {
    take(caller, cost = 1) {
      const time = now();
      sweep(time);
      const known = buckets.get(caller);
      const rate = Math.min(own, total / (buckets.size + (known === undefined ? 1 : 0)));
      const bucket = known ?? { level: rate, at: time };
      bucket.level = Math.min(rate, bucket.level + (rate * (time - bucket.at)) / SECOND);
      bucket.at = time;
      buckets.set(caller, bucket);
      if (bucket.level < Math.min(cost, rate)) return false;
      bucket.level -= cost;
      return true;
    },
  };
}

const SECOND = 1_000;

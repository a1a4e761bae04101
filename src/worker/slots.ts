/** How much work goes on at a time, in all and of one owner. */
export interface SlotLimits {
  readonly atOnce: number;
  readonly perOwner: number;
}

/** Lets work begin as there is room for it. */
export interface Slots {
  /** Begins the work when there is room for it, and returns its result. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Slots of which no owner can take all: users of a Shoot can have each write into it take half a minute, by a webhook that never answers.
 * Of those that wait, owners come one after another, and the work of one in its order.
 */
export function createSlots({ atOnce, perOwner }: SlotLimits): Slots {
  const waiting = new Map<string, (() => void)[]>();
  const held = new Map<string, number>();
  let all = 0;

  const change = (owner: string, by: 1 | -1) => {
    const count = (held.get(owner) ?? 0) + by;
    all += by;
    if (count === 0) held.delete(owner);
    else held.set(owner, count);
  };

  const beginNext = () => {
    for (const [owner, [begin, ...later]] of waiting) {
      if (all >= atOnce) return;
      if ((held.get(owner) ?? 0) >= perOwner) continue;
      waiting.delete(owner);
      if (later.length > 0) waiting.set(owner, later); // behind the others
      change(owner, 1);
      begin?.();
    }
  };

  return {
    async run(owner, work) {
      await new Promise<void>((resolve) => {
        waiting.set(owner, [...(waiting.get(owner) ?? []), resolve]);
        beginNext();
      });
      try {
        return await work();
      } finally {
        change(owner, -1);
        beginNext();
      }
    },
  };
}

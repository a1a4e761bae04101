import { setTimeout as delay } from "node:timers/promises";

/** Tells a loop that sleeps that there is news. */
export interface Bell {
  ring(): void;
  /** Returns when it has rung since this was asked for last, after so many ms, or when it is stopped. */
  heard(ms: number, signal: AbortSignal): Promise<void>;
}

/** One that has not rung. */
export function createBell(): Bell {
  let rung = Promise.withResolvers<void>();
  return {
    ring: () => rung.resolve(),
    async heard(ms, signal) {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      await Promise.race([rung.promise, delay(ms, undefined, { signal: either }).catch(() => {})]);
      over.abort();
      rung = Promise.withResolvers<void>();
    },
  };
}

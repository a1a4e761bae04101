import type { Clock } from "../../src/extension/lease.ts";

/** Time that passes only when nothing is left to be done in it; real code runs in it, minutes within milliseconds. */
export interface VirtualTime {
  /** Milliseconds since the beginning. */
  now(): number;
  /** Does something at a later moment, unless it is called off; what is due at one moment is done in the order of asking. */
  at(moment: number, work: () => void): { cancel(): void };
  /** Ends early when the signal aborts. */
  sleep(duration: number, signal?: AbortSignal): Promise<void>;
  /** Lets all that is due until then happen, one after the other. */
  run(until: number): Promise<void>;
}

/** Begins at 0. */
export function createVirtualTime(): VirtualTime {
  let time = 0;
  const due: { readonly moment: number; work: (() => void) | undefined }[] = [];

  const at = (moment: number, work: () => void) => {
    const entry: (typeof due)[number] = { moment: Math.max(moment, time), work };
    let low = 0;
    for (let high = due.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((due[middle]?.moment ?? Infinity) <= entry.moment) low = middle + 1;
      else high = middle;
    }
    due.splice(low, 0, entry);
    return { cancel: () => void (entry.work = undefined) };
  };

  return {
    now: () => time,
    at,
    sleep: (duration, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const end = () => {
          timer.cancel();
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = at(time + duration, end);
        signal?.addEventListener("abort", end);
      }),
    async run(until) {
      await settled();
      for (let next = due[0]; next !== undefined && next.moment <= until; next = due[0]) {
        due.shift();
        if (next.work === undefined) continue;
        time = next.moment;
        next.work();
        await settled();
      }
      time = Math.max(time, until);
    },
  };
}

/** A clock of a process that runs too fast or too slow: at `rate` 1.1 it shows 11 s after 10. */
export function driftingClock(time: VirtualTime, rate: number, offset = 0): Clock {
  return {
    now: () => offset + time.now() * rate,
    sleep: (duration, signal) => time.sleep(duration / rate, signal),
  };
}

/** Promises that were kept have been reacted to, however long their chains are. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

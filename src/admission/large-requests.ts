import { setImmediate as otherWork } from "node:timers/promises";

/** Work on large requests, whose bodies are in memory until it is done. */
export interface LargeRequests {
  /** Holds so many bytes until the returned function is called; undefined, and nothing is held, where they are too many. */
  hold(bytes: number): (() => void) | undefined;
  /** Does one work after the other, in the order in which they come, and what else there is to do between them. */
  oneByOne<T>(work: () => Promise<T>): Promise<T>;
}

/** Large requests that have at most so many bytes together. */
export function createLargeRequests(most: number): LargeRequests {
  let held = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(bytes) {
      if (held + bytes > most) return undefined;
      held += bytes;
      return () => void (held -= bytes);
    },
    oneByOne(work) {
      const done = last.then(async () => {
        await otherWork();
        return await work();
      });
      last = done.catch(() => undefined);
      return done;
    },
  };
}

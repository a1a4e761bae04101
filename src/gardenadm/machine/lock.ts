import { setTimeout as delay } from "node:timers/promises";
import { LockedError, withLock } from "../../in-process/lock.ts";

/** Does the work while this process alone holds the lock of this file; waits for that until it is stopped. */
export async function waitForLock<T>(file: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await withLock(file, work);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      signal.throwIfAborted();
      await delay(250, undefined, { signal }).catch(() => {});
    }
  }
}

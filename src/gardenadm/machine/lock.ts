import { setTimeout as delay } from "node:timers/promises";
import { LockedError, withLock } from "../../in-process/lock.ts";

/** Does the work while no other process changes this machine by an OperatingSystemConfig; waits for its turn until it is stopped. */
export async function withMachine<T>(lock: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await withLock(lock, work);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      signal.throwIfAborted();
      await delay(250, undefined, { signal }).catch(() => {});
    }
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";

/**
 * Calls `look` until it neither throws nor returns false, and returns its result. Throws its last error after `timeout` ms, multiplied by
 * PERENNIAL_TEST_PATIENCE.
 */
export async function eventually<T>(look: () => T | Promise<T>, timeout = 30_000): Promise<Exclude<T, false>> {
  const most = timeout * patience;
  const deadline = Date.now() + most;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== false) return seen as Exclude<T, false>;
      if (Date.now() > deadline) throw new Error(`not so after ${most} ms: ${look.toString()}`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(25);
  }
}

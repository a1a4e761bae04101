import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";

/**
 * What `look` returns once it neither throws nor returns false; its last error, or a plain one, after `timeout` ms on a quiet machine, and more
 * with patience.
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

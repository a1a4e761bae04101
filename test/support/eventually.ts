import { setTimeout as sleep } from "node:timers/promises";

/** What `look` returns once it neither throws nor returns false; its last error, or a plain one, after `timeout` ms. */
export async function eventually<T>(look: () => T | Promise<T>, timeout = 20_000): Promise<Exclude<T, false>> {
  const deadline = Date.now() + timeout;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== false) return seen as Exclude<T, false>;
      if (Date.now() > deadline) throw new Error(`not so after ${timeout} ms: ${look.toString()}`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(25);
  }
}

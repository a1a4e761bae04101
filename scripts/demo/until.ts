import { setTimeout as sleep } from "node:timers/promises";
import type { BaseContext } from "../../src/cli/base-context.ts";

/** Two minutes, in ms. */
const timeout = 120_000;

/** What `look` finds, which it is asked for twice a second; throws what did not come true after two minutes. */
export async function until<T>(
  { now, signal }: Pick<BaseContext, "now" | "signal">,
  what: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  for (const end = now() + timeout; now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(500, undefined, { signal });
  }
  throw new Error(`gave up waiting until ${what}: it has not come true in ${timeout / 1000} s`);
}

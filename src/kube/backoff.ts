import { setTimeout as sleep } from "node:timers/promises";
import { KubeError } from "./errors.ts";

/** How long to wait after each failure in a row, in milliseconds; doubles, with up to a quarter of jitter. */
export interface Backoff {
  /** Waits; as long as the server asked for when the error says so. An aborted signal ends the wait. */
  wait(signal: AbortSignal, error?: unknown): Promise<void>;
  reset(): void;
}

/** A backoff from `first` to `most` milliseconds. */
export function createBackoff(range: { readonly first: number; readonly most: number }): Backoff {
  let failures = 0;
  return {
    async wait(signal, error) {
      const delay = backoffDelay(failures++, range, error);
      await sleep(delay, undefined, { signal }).catch(() => {});
    },
    reset: () => void (failures = 0),
  };
}

/** The delay in milliseconds after `failures` earlier failures in a row. */
export function backoffDelay(
  failures: number,
  { first, most }: { readonly first: number; readonly most: number },
  error?: unknown,
): number {
  const asked = error instanceof KubeError ? (error.retryAfter ?? 0) * 1000 : 0;
  const delay = Math.min(first * 2 ** Math.min(failures, 30), most);
  return Math.max(asked, delay * (1 + Math.random() / 4));
}

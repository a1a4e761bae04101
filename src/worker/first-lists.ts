import type { ListFailure } from "../kube/index.ts";
import { inTime } from "./in-time.ts";

/** Objects that a watch follows. */
export interface Followed {
  /** Resolves when the first list is there. */
  synced(): Promise<void>;
  /** Why there is no list yet. */
  failure(): ListFailure | undefined;
}

/**
 * Waits until what a worker has to know before it takes work has been listed; the names are those of the kinds. Throws what keeps a list
 * from coming, after `timeout` ms, so that the process ends with the reason instead of waiting in silence.
 */
export async function awaitFirstLists(followed: Readonly<Record<string, Followed>>, timeout = 120_000): Promise<void> {
  const waits = Object.entries(followed).map(([kinds, one]) =>
    inTime(one.synced(), timeout, () => late(kinds, timeout, one.failure()?.error)),
  );
  await Promise.all(waits);
}

function late(kinds: string, timeout: number, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : "the API server has not answered";
  return new Error(
    `cannot take work without the garden's ${kinds}, which have not been listed within ${timeout / 1_000} s: ${why}; check that the garden's API server answers, and that this worker may list and watch them`,
    { cause },
  );
}

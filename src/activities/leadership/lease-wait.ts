import { setTimeout as sleep } from "node:timers/promises";

/** How long, in s, an observation of the record allows a controller to act. */
export interface Leased {
  readonly leaseSeconds: number;
}

/** In ms, between two looks at the clock. */
const PERIOD = 1_000;

/**
 * Waits until all leases on a former leader's record have run out: two, from when this call begins, which is after all
 * servers named the new leader. It goes by this process's monotonic clock, which no step of the wall clock moves, and
 * which stands still while the machine is suspended: the wait may be longer then, and never shorter. A call that is
 * repeated, in this process or another, begins anew. Rejects with the signal's reason once that aborts.
 */
export async function awaitLeases(
  { leaseSeconds }: Leased,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<void> {
  const end = now() + 2 * 1000 * leaseSeconds;
  for (let left = end - now(); left > 0; left = end - now()) {
    await sleep(Math.min(left, PERIOD), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

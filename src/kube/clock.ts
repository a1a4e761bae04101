import { uptime } from "node:os";

/**
 * The monotonic clock of this process, in ms. It also runs while the process is stopped and, on Linux, while its machine is
 * suspended: the system's uptime counts that (CLOCK_BOOTTIME), although it is exact to 10 ms only.
 */
export const monotonicNow: () => number = createNow(
  () => performance.now(),
  () => uptime() * 1000,
);

/** Time since the beginning, in ms, by whichever of two clocks has gone further since. */
export function createNow(exact: () => number, boot: () => number): () => number {
  const begin = { exact: exact(), boot: boot() };
  return () => Math.max(exact() - begin.exact, boot() - begin.boot);
}

/** A failure, as far as it decides what comes next. */
export interface Retryable {
  /** Whether another try may succeed without a change by people. */
  readonly retryable: boolean;
  /** Who has not answered: the step goes on once they do, however long that takes. */
  readonly silent?: string;
  /** The longest pause, in ms, before the next try: what is missing is being made by others. */
  readonly within?: number;
}

/** How often and for how long work has been tried, and for how long it may be; in ms. */
export interface Tried {
  /** The number of the try that failed; the first is 1. */
  readonly attempt: number;
  /** Since the first try, or since an operator or a silent one let it go on. */
  readonly elapsed: number;
  readonly retryDuration: number;
}

/** What a failed step does: try again after `delay` ms, or wait for an operator. */
export type AfterFailure = { readonly then: "retry"; readonly delay: number } | { readonly then: "park" };

/** Decides it. The world has no part in this: whichever engine runs the step carries it out. */
export function afterFailure(
  { retryable, silent, within = Infinity }: Retryable,
  { attempt, elapsed, retryDuration }: Tried,
): AfterFailure {
  const delay = Math.min(backoff(attempt), within);
  if (!retryable) return { then: "park" };
  return silent !== undefined || elapsed + delay <= retryDuration ? { then: "retry", delay } : { then: "park" };
}

/** Five seconds, doubling, at most ten minutes; in ms. */
const backoff = (attempt: number): number => Math.min(5_000 * 2 ** (attempt - 1), 600_000);

/** Half of the values are at most `p50`, and of twenty values nineteen at most `p95`. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Whole numbers, because a figure is no more exact than that. */
export function percentiles(values: readonly number[]): Percentiles {
  return { p50: at(values, 0.5), p95: at(values, 0.95) };
}

/** The value in the middle. */
export const median = (values: readonly number[]): number => at(values, 0.5);

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN);
}

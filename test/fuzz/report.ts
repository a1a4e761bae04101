/** An input that something made wrong use of, and what came of it. */
export interface Finding {
  /** Number of the case: with the seed, it makes the input again. */
  readonly case: number;
  readonly input: string;
  readonly outcome: string;
}

/** What came of the cases of one kind. */
export interface Tally {
  readonly what: string;
  readonly count: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Milliseconds of each answer. */
  readonly times: readonly number[];
  readonly findings: readonly Finding[];
}

/** One line for people: how many cases of what, how they ended, how long the slowest took. */
export function describeTally({ what, count, outcomes, times, findings }: Tally): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  const ends = Object.entries(outcomes).map(([name, number]) => `${number} ${name}`);
  return `${what}: ${count} cases, ${ends.join(", ")}, ${findings.length} findings, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}

const seconds: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
};

/** How many seconds a duration such as `1h30m` has. NaN for a text that is no duration. */
export function secondsOf(duration: string): number {
  if (duration === "0") return 0;
  const parts = [...duration.matchAll(/(\d+(?:\.\d*)?)(ms|us|µs|μs|ns|h|m|s)/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== duration) return NaN;
  return parts.reduce((sum, [, number, unit = ""]) => sum + Number(number) * (seconds[unit] ?? NaN), 0);
}

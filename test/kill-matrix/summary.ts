import { serverParts, type Blow, type Part } from "./blow.ts";
import type { Report } from "./shard.ts";

/** Prints how one run went. */
export function print({ blow, faults, arrivals, fallen }: Report): void {
  const verdict = faults.length === 0 ? "same     " : "DIFFERENT";
  const where = fallen ? seconds(Math.max(...arrivals)) : "step not reached";
  console.log(`${verdict} ${where}  ${blow === undefined ? "undisturbed" : describe(blow)}`);
  if (arrivals.length > 1)
    console.log(`  ${arrivals.length} Shoots: the first after ${seconds(Math.min(...arrivals))}, ${spread(arrivals)}`);
  for (const fault of faults) console.log(`  ${fault}`);
}

/** Prints what came of all blows; returns the exit code. */
export function summarize(blows: readonly Blow[], reports: readonly Report[], total: number): number {
  const struck = reports.filter(({ blow, fallen }) => blow !== undefined && fallen);
  const wrong = reports.filter(({ faults }) => faults.length > 0);
  const missed = reports.flatMap(({ blow, fallen }) =>
    blow === undefined || fallen ? [] : [`${blow.part} at ${blow.step}`],
  );
  const undisturbed = reports.filter(({ blow }) => blow === undefined);
  console.log(`\n${blows.length} migrations were asked for; ${reports.length} ran, in ${seconds(total)}`);
  console.log(`a blow fell in ${struck.length}; another outcome in ${wrong.length}`);
  console.log(`undisturbed: ${spreadOf(undisturbed)}; with a blow: ${spreadOf(struck)}`);
  console.log(`most memory in use: ${describePeaks(reports)}`);
  if (missed.length > 0) console.log(`not reached: ${missed.join(", ")}`);
  return wrong.length === 0 && struck.length + missed.length === blows.length ? 0 : 1;
}

const servers: ReadonlySet<Part> = new Set(serverParts);

function describe({ flow, step, part, delay, away }: Blow): string {
  const what = servers.has(part) ? `${part} away for ${seconds(away)}` : `${part} killed`;
  return `${flow} ${step}: ${what} after ${delay} ms`;
}

const spreadOf = (reports: readonly Report[]): string => spread(reports.map(({ arrivals }) => Math.max(...arrivals)));

function spread(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other);
  return `${seconds(sorted[Math.floor(sorted.length / 2)] ?? 0)} in the median, ${seconds(sorted.at(-1) ?? 0)} at most`;
}

function describePeaks(reports: readonly Report[]): string {
  const most = new Map<string, number>();
  for (const { peaks } of reports)
    for (const [name, bytes] of Object.entries(peaks)) most.set(name, Math.max(bytes, most.get(name) ?? 0));
  return [...most].map(([name, bytes]) => `${name} ${Math.round(bytes / 2 ** 20)} MB`).join(", ");
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

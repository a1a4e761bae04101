import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chooseBlows } from "./blows.ts";
import { spawnInOwnNetwork } from "./network.ts";
import type { Order, Report } from "./shard.ts";
import type { Blow, FlowName, Part } from "./trial.ts";

/**
 * Kills every process at every step of a migration, one run for each, and holds the outcome against that of a migration
 * which nobody disturbed: `npm run kill-matrix -- [--steps a,b] [--parts garden,source,destination] [--sample N]
 * [--flows migrate,restore,clean-up] [--seed N] [--labs N] [--evidence DIRECTORY]`. Parts are also manager and the servers
 * dns, temporal, garden-api, source-api and destination-api, which stay away for `--away` seconds. The exit code is 0
 * when every outcome was the same.
 */
process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      steps: { type: "string", default: "" },
      parts: { type: "string", default: "garden,source,destination" },
      away: { type: "string", default: "60" },
      flows: { type: "string", default: "migrate,restore,clean-up" },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      labs: { type: "string", default: "3" },
      evidence: { type: "string", default: "" },
    },
  });
  const blows = chooseBlows({
    steps: listOf(values.steps),
    parts: listOf(values.parts) as Part[],
    away: Number(values.away) * 1000,
    flows: listOf(values.flows) as FlowName[],
    seed: Number(values.seed),
    ...(values.sample === undefined ? {} : { sample: Number(values.sample) }),
  });
  const begin = performance.now();
  const labs = Math.min(Number(values.labs), blows.length);
  // A migration mostly waits, so that several labs share a processor well.
  const shares = Array.from({ length: labs }, (_, lab) => blows.filter((_, index) => index % labs === lab));
  const reports = await Promise.all(shares.map((share) => runLab({ blows: share, evidence: values.evidence })));
  return summarize(blows, reports.flat(), performance.now() - begin);
}

function listOf(text: string): string[] {
  return text.split(",").filter((word) => word !== "");
}

/** A lab of its own works the order off; what it reports is printed as it comes. */
async function runLab(order: Order): Promise<Report[]> {
  const child = spawnInOwnNetwork(join(import.meta.dirname, "shard.ts"));
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("a lab has no standard input and output");
  stdin.end(JSON.stringify(order));
  const reports: Report[] = [];
  for await (const line of createInterface({ input: stdout })) {
    const report = JSON.parse(line) as Report | LogLine;
    if (!("faults" in report)) console.log(`  lab: ${report.msg}: ${report.err?.message ?? ""}`);
    else {
      reports.push(report);
      print(report);
    }
  }
  return reports;
}

/** What the lab itself has to complain about. */
interface LogLine {
  readonly msg: string;
  readonly err?: { readonly message: string };
}

function print({ blow, faults, took, fallen }: Report): void {
  const verdict = faults.length === 0 ? "same     " : "DIFFERENT";
  const where = fallen ? seconds(took) : "step not reached";
  console.log(`${verdict} ${where}  ${blow === undefined ? "undisturbed" : describe(blow)}`);
  for (const fault of faults) console.log(`  ${fault}`);
}

function describe({ flow, step, part, delay }: Blow): string {
  return `${flow} ${step}: ${part} killed after ${delay} ms`;
}

function summarize(blows: readonly Blow[], reports: readonly Report[], total: number): number {
  const struck = reports.filter(({ blow, fallen }) => blow !== undefined && fallen);
  const wrong = reports.filter(({ faults }) => faults.length > 0);
  const missed = reports.flatMap(({ blow, fallen }) =>
    blow === undefined || fallen ? [] : [`${blow.part} at ${blow.step}`],
  );
  const undisturbed = reports.filter(({ blow }) => blow === undefined);
  console.log(`\n${blows.length} migrations were asked for; ${reports.length} ran, in ${seconds(total)}`);
  console.log(`a process was killed in ${struck.length}; another outcome in ${wrong.length}`);
  console.log(`undisturbed: ${spread(undisturbed)}; with a kill: ${spread(struck)}`);
  if (missed.length > 0) console.log(`not reached: ${missed.join(", ")}`);
  return wrong.length === 0 && struck.length + missed.length === blows.length ? 0 : 1;
}

function spread(reports: readonly Report[]): string {
  const times = reports.map(({ took }) => took).sort((one, other) => one - other);
  return `${seconds(times[Math.floor(times.length / 2)] ?? 0)} in the median, ${seconds(times.at(-1) ?? 0)} at most`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

import { join } from "node:path";
import { createInterface } from "node:readline";
import { readOptions } from "./options.ts";
import { chooseBlows } from "./blows.ts";
import { spawnInOwnNetwork } from "./network.ts";
import type { Order, Report } from "./shard.ts";
import { print, summarize } from "./summary.ts";

/**
 * Kills every process at every step of a migration, one run for each, and holds the outcome against that of a migration
 * which nobody disturbed: `npm run kill-matrix -- [OPTIONS]`, as the page beside this file says. The exit code is 0 when
 * every outcome was the same.
 */
process.exitCode = await main();

async function main(): Promise<number> {
  const { labs, order, ...choice } = readOptions();
  const blows = chooseBlows(choice);
  const begin = performance.now();
  const count = Math.min(labs, blows.length);
  // A migration mostly waits, so that several labs share a processor well.
  const shares = Array.from({ length: count }, (_, lab) => blows.filter((_, index) => index % count === lab));
  const reports = await Promise.all(shares.map((share) => runLab({ ...order, blows: share })));
  return summarize(blows, reports.flat(), performance.now() - begin);
}

/** A lab of its own works the order off; what it reports is printed as it comes. */
async function runLab(order: Order): Promise<Report[]> {
  const child = spawnInOwnNetwork(join(import.meta.dirname, "shard.ts"));
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("a lab has no standard input and output");
  stdin.end(JSON.stringify(order));
  const reports: Report[] = [];
  const complaints = new Set<string>();
  for await (const line of createInterface({ input: stdout })) {
    const report = JSON.parse(line) as Report | LogLine;
    if (!("faults" in report)) complain(report, complaints);
    else {
      reports.push(report);
      print(report);
    }
  }
  return reports;
}

/** Once each: whoever misses a server says so all the time. */
function complain({ msg, err }: LogLine, known: Set<string>): void {
  const text = `  lab: ${msg}: ${err?.message ?? ""}`;
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  if (!known.has(short)) console.log(short);
  known.add(short);
}

/** What the lab itself has to complain about. */
interface LogLine {
  readonly msg: string;
  readonly err?: { readonly message: string };
}

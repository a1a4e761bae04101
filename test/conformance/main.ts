import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exitCodes } from "../../src/cli/exit.ts";
import { createLogger } from "../../src/log.ts";
import type { Ground } from "./ground.ts";
import { onHostedShoot } from "./hosted.ts";
import { buildSuiteImages } from "./images.ts";
import { joinResults, renderResults, type SuiteResult } from "./report.ts";
import { onSelfHostedCluster } from "./self-hosted.ts";
import { listSuiteImages, runSuite } from "./suite.ts";

/**
 * Runs Kubernetes' conformance tests, `npm run test:conformance -- [hosted] [self-hosted] [OPTIONS]`, on a Shoot and on a self-hosted cluster that are made
 * for it, or on one of them. Tests run in parallel, then those that want a cluster of their own. The exit code is 0 when none has failed.
 *
 *     --focus=REGEX      only tests with names that match; may be repeated
 *     --processes=N      how many tests run at a time, 4 unless told otherwise
 */
const clusters = { hosted: onHostedShoot, "self-hosted": onSelfHostedCluster } as const;

type ClusterName = keyof typeof clusters;

/** Of a whole run, in ms; on two cores it takes an hour. */
const TIMEOUT = 3 * 3_600_000;

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { focus: { type: "string", multiple: true }, processes: { type: "string", default: "4" } },
  });
  const log = createLogger({ name: "conformance", level: "warn" });
  const tell = (message: string) => console.log(`── ${message}`);
  const { archive, missing } = await buildSuiteImages(await listSuiteImages(log, tell), { log, tell });
  const folder = await mkdtemp(join(tmpdir(), "perennial-conformance-"));
  const ground: Ground = { archive, folder, log, tell, signal: interruption.signal };
  const results: Partial<Record<ClusterName, SuiteResult>> = {};
  for (const name of chosen(positionals)) {
    const run = { folder, missing, log, focus: values.focus ?? [], processes: Number(values.processes) };
    try {
      results[name] = await clusters[name](ground, (kubeconfig) => runWhole(name, { ...run, kubeconfig }));
      tell(`${name}: reports are in ${folder}`);
    } catch (error) {
      if (!interruption.signal.aborted) throw error;
    }
    if (interruption.signal.aborted) break;
  }
  console.log(`\n${renderResults(results)}`);
  if (interruption.signal.aborted) return exitCodes.interrupted;
  return Object.values(results).some(({ failed }) => failed.length > 0) ? exitCodes.failed : exitCodes.done;
}

function chosen(words: readonly string[]): readonly ClusterName[] {
  const known = Object.keys(clusters) as ClusterName[];
  const unknown = words.find((word) => !known.some((name) => name === word));
  if (unknown !== undefined) throw new Error(`there is no cluster ${unknown}: choose of ${known.join(", ")}`);
  return words.length === 0 ? known : known.filter((name) => words.includes(name));
}

type Run = Omit<Parameters<typeof runSuite>[0], "labels" | "name" | "timeout" | "verbose">;

async function runWhole(cluster: ClusterName, run: Run): Promise<SuiteResult> {
  const shared = { ...run, timeout: TIMEOUT, verbose: true, signal: interruption.signal };
  const parallel = await runSuite({ ...shared, labels: "Conformance && !Serial && !Disruptive", name: cluster });
  if (interruption.signal.aborted) return parallel;
  const alone = { labels: "Conformance && (Serial || Disruptive)", name: `${cluster}-serial`, processes: 1 };
  return joinResults([parallel, await runSuite({ ...shared, ...alone })]);
}

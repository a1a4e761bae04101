import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import { clusterApiBinaries } from "../src/local/binary/versions.ts";
import { createLogger } from "../src/log.ts";
import { startControlPlane } from "../test/support/control-plane.ts";
import { applyCrds } from "../test/support/crds.ts";
import { applyGarden } from "../test/support/garden-objects.ts";
import { startTemporal } from "../test/support/temporal.ts";
import { missingFigures, type Bench, type Findings, type Ground, type MachineBench, type Table } from "./bench.ts";
import { clusterApi } from "./cluster-api.ts";
import { flow } from "./flow.ts";
import { gateway } from "./gateway.ts";
import { idle } from "./idle.ts";
import { beQuiet } from "./quiet.ts";
import { registration } from "./registration.ts";
import { reconciles } from "./reconciles.ts";
import { selfHosted } from "./self-hosted.ts";
import { waiting } from "./waiting.ts";

/** The benches, in the order in which they run; those on machines come before there are servers. */
const machineBenches: readonly MachineBench[] = [selfHosted];
const benches: readonly Bench[] = [flow, waiting, reconciles, idle, registration, gateway, clusterApi];
const names = [...machineBenches, ...benches].map(({ name }) => name);

/** What the servers of the benches run, which a machine that measures first has not built yet. */
const needed = ["etcd", "etcdctl", "kube-apiserver", "temporal", "helm", ...clusterApiBinaries] as const;

/** Measures and prints tables; with --json, an object. Talks to servers of its own on loopback, for some minutes. */
await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  beQuiet();
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.version };
  const before = { date: new Date().toISOString(), load: loadavg()[0] };
  const figures: Record<string, object> = {};
  const take = (name: string, found: Findings) => {
    if (!options.json) found.tables.forEach(print);
    figures[name] = found.figures;
  };
  for (const bench of options.machineBenches)
    take(bench.name, await bench.measureMachines({ short: options.short, say: console.error }));
  if (options.benches.length > 0) await measureOnServers(options, take);
  if (options.json) console.log(JSON.stringify({ machine, ...before, ...figures }, null, 2));
  const missing = missingFigures(figures);
  if (missing.length > 0) throw new Error(`these figures did not come out: ${missing.join(", ")}`);
}

async function measureOnServers(
  options: ReturnType<typeof parseOptions>,
  take: (name: string, found: Findings) => void,
): Promise<void> {
  const log = createLogger({ name: "bench", level: "silent" });
  await ensureBinaries(needed, { log, pinned: true, onProgress: console.error });
  const controlPlane = await startControlPlane();
  try {
    await applyCrds(controlPlane.client);
    await applyGarden(controlPlane.client);
    for (const bench of options.benches)
      take(bench.name, await measure(bench, { ...options, controlPlane, say: console.error }));
  } finally {
    await controlPlane.stop();
  }
}

function parseOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: "string" },
      shoots: { type: "string" },
      short: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const { short, json } = values;
  const shoots = Number(values.shoots ?? (short ? 20 : 1_000));
  if (!Number.isInteger(shoots) || shoots < 20 || shoots > 5_000)
    throw new Error("--shoots has to be between 20 and 5000");
  const asked = [...(values.only?.split(",") ?? []), ...positionals];
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no bench ${unknown}: --only takes ${names.join(",")}`);
  const isWanted = ({ name }: { readonly name: string }) => asked.length === 0 || asked.includes(name);
  return { short, json, shoots, benches: benches.filter(isWanted), machineBenches: machineBenches.filter(isWanted) };
}

async function measure(bench: Bench, ground: Omit<Ground, "temporal">) {
  const temporal = await startTemporal();
  try {
    return await bench.measure({ ...ground, temporal });
  } finally {
    await temporal.stop();
  }
}

function print({ title, rows }: Table): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  console.log(`\n${title}`);
  for (const [name, value] of rows) console.log(`  ${name.padEnd(width)}  ${value}`);
}

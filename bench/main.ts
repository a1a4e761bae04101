import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import { clusterApiBinaries } from "../src/local/binary/versions.ts";
import { createLogger } from "../src/log.ts";
import { startControlPlane } from "../test/support/control-plane.ts";
import { applyCrds } from "../test/support/crds.ts";
import { applyGarden } from "../test/support/garden-objects.ts";
import { startTemporal } from "../test/support/temporal.ts";
import { missingFigures, type Bench, type Ground, type Table } from "./bench.ts";
import { clusterApi } from "./cluster-api.ts";
import { flow } from "./flow.ts";
import { idle } from "./idle.ts";
import { beQuiet } from "./quiet.ts";
import { registration } from "./registration.ts";
import { reconciles } from "./reconciles.ts";
import { waiting } from "./waiting.ts";

/** The benches, in the order in which they run. */
const benches: readonly Bench[] = [flow, waiting, reconciles, idle, registration, clusterApi];

/** What the servers of the benches run, which a machine that measures first has not built yet. */
const needed = ["etcd", "etcdctl", "kube-apiserver", "temporal", ...clusterApiBinaries] as const;

/** Measures and prints tables; with --json, an object. Talks to servers of its own on loopback, for some minutes. */
await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  beQuiet();
  const log = createLogger({ name: "bench", level: "silent" });
  await ensureBinaries(needed, { log, pinned: true, onProgress: console.error });
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.version };
  const before = { date: new Date().toISOString(), load: loadavg()[0] };
  const figures: Record<string, object> = {};
  const controlPlane = await startControlPlane();
  try {
    await applyCrds(controlPlane.client);
    await applyGarden(controlPlane.client);
    for (const bench of options.benches) {
      const found = await measure(bench, { ...options, controlPlane, say: console.error });
      if (!options.json) found.tables.forEach(print);
      figures[bench.name] = found.figures;
    }
  } finally {
    await controlPlane.stop();
  }
  if (options.json) console.log(JSON.stringify({ machine, ...before, ...figures }, null, 2));
  const missing = missingFigures(figures);
  if (missing.length > 0) throw new Error(`these figures did not come out: ${missing.join(", ")}`);
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
  const names = asked.length > 0 ? asked : benches.map(({ name }) => name);
  const unknown = names.find((name) => !benches.some((bench) => bench.name === name));
  if (unknown !== undefined)
    throw new Error(`there is no bench ${unknown}: --only takes ${benches.map(({ name }) => name).join(",")}`);
  return { short, json, shoots, benches: benches.filter(({ name }) => names.includes(name)) };
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

import { cpus } from "node:os";
import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";
import { startControlPlane } from "../test/support/control-plane.ts";
import { applyCrds } from "../test/support/crds.ts";
import { applyGarden } from "../test/support/garden-objects.ts";
import { startTemporal, type TemporalServer } from "../test/support/temporal.ts";
import { measureFlow, type FlowFigures } from "./flow.ts";
import { measureWaiting, type WaitingFigures } from "./waiting.ts";

/** Measures waiting and prints a table; with --json, an object. Talks to servers of its own on loopback, for about three minutes. */
await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const shoots = Number(args.find((arg) => arg.startsWith("--shoots="))?.slice("--shoots=".length) ?? 1_000);
  if (!Number.isInteger(shoots) || shoots < 60 || shoots > 5_000)
    throw new Error("--shoots has to be between 60 and 5000");
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: "ERROR" }) } },
  });
  const controlPlane = await startControlPlane();
  try {
    await applyCrds(controlPlane.client);
    await applyGarden(controlPlane.client);
    const flow = await withTemporal((temporal) => measureFlow(controlPlane.client, temporal, console.error));
    const waiting = await withTemporal((temporal) => measureWaiting(controlPlane, temporal, shoots, console.error));
    const machine = {
      cpu: cpus()[0]?.model ?? "",
      cores: cpus().length,
      node: process.version,
      date: new Date().toISOString(),
    };
    if (args.includes("--json")) console.log(JSON.stringify({ machine, flow, waiting }, null, 2));
    else print(flow, waiting);
  } finally {
    await controlPlane.stop();
  }
}

/** A server for each part: in one where a build of the garden's worker was made current, no other worker gets workflows. */
async function withTemporal<T>(measure: (temporal: TemporalServer) => Promise<T>): Promise<T> {
  const temporal = await startTemporal();
  try {
    return await measure(temporal);
  } finally {
    await temporal.stop();
  }
}

function print(flow: FlowFigures, waiting: WaitingFigures): void {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  table(`One Shoot's reconcile flow, its extensions take ${seconds(flow.extensionTakes)} each`, [
    ["critical path: what the extensions take", seconds(flow.criticalPath)],
    ["the same flow with extensions that take nothing", seconds(flow.own)],
    [
      "woken by the watch",
      `${seconds(flow.watching)} = ${(flow.watching / flow.criticalPath).toFixed(2)} x critical path`,
    ],
    [
      "polling every 5 s",
      `${seconds(flow.polling)} = ${(flow.polling / flow.criticalPath).toFixed(2)} x critical path`,
    ],
  ]);
  table(`${waiting.shoots} Shoots wait at once`, [
    ["pending activities, where the seed worker has 50 slots", String(waiting.pending)],
    ["until all wait", seconds(waiting.untilAllWait)],
    ["seed worker: resident memory idle, waiting", waiting.seedMemory.map((mb) => `${mb} MB`).join(", ")],
    ["garden worker: resident memory idle, waiting", waiting.gardenMemory.map((mb) => `${mb} MB`).join(", ")],
    ["CPU of both workers while all wait", `${waiting.idleCpuPercent} % of a core`],
    [
      `one wakes: activity completed, p50 / p95 of ${waiting.single.samples}`,
      `${waiting.single.woken.p50} / ${waiting.single.woken.p95} ms`,
    ],
    ["one wakes: its flow has acted, p50 / p95", `${waiting.single.acted.p50} / ${waiting.single.acted.p95} ms`],
    [`${waiting.together.shoots} wake: until the last status is written`, seconds(waiting.together.written)],
    [`${waiting.together.shoots} wake: until the last activity is completed`, seconds(waiting.together.woken)],
    [`${waiting.together.shoots} wake: until the last flow has acted`, seconds(waiting.together.acted)],
  ]);
}

function table(title: string, rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  console.log(`\n${title}`);
  for (const [name, value] of rows) console.log(`  ${name.padEnd(width)}  ${value}`);
}

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { WAIT_ANNOTATION } from "../src/api/annotations.ts";
import { Infrastructure } from "../src/api/index.ts";
import type { ShootRun } from "../src/api/shoot/run.ts";
import { refTo, type KubeClient } from "../src/kube/index.ts";
import { frugal } from "../src/local/process/own-processes.ts";
import { flowWorkflowId, gardenQueue } from "../src/workflows/contract.ts";
import { createShoot } from "../test/support/garden-objects.ts";
import type { TemporalServer } from "../test/support/temporal.ts";
import { atMost } from "./at-most.ts";
import { seconds, type Bench, type Findings, type Ground } from "./bench.ts";
import { becomesCurrent } from "./current-build.ts";
import { percentiles, type Percentiles } from "./percentiles.ts";
import { residentMemory } from "./resident-memory.ts";
import { extended } from "./stand-ins.ts";
import { wakeTimes } from "./wake-times.ts";

/** Many Shoots whose flows wait at once. */
export const waiting: Bench = { name: "waiting", measure: measureWaiting };

/** Times in ms, memory in MB as [idle, waiting]. */
interface WaitingFigures {
  readonly shoots: number;
  readonly pending: number;
  readonly untilAllWait: number;
  readonly seedMemory: readonly [number, number];
  readonly gardenMemory: readonly [number, number];
  readonly idleCpuPercent: number;
  readonly single: { readonly samples: number; readonly woken: Percentiles; readonly acted: Percentiles };
  readonly together: {
    readonly shoots: number;
    readonly written: number;
    readonly woken: number;
    readonly acted: number;
  };
}

/** Lets many Shoots wait for their Infrastructures, with a garden's and a seed's worker in processes of their own. */
async function measureWaiting({ controlPlane, temporal, say, ...ground }: Ground): Promise<Findings> {
  const { client: kube, kubeconfigFile } = controlPlane;
  const { shoots } = ground;
  const samples = ground.short ? 10 : 50;
  say(`waiting: creating ${shoots} Shoots`);
  const runs = await createShoots(kube, shoots);
  const workers = await Promise.all(
    ["garden", "seed"].map((role) => startWorker(role, temporal.address, kubeconfigFile)),
  );
  const memory = async () => Promise.all(workers.map(({ child }) => residentMemory(child)));
  try {
    await becomesCurrent(temporal, workers[0]?.build ?? "");
    const [gardenIdle = 0, seedIdle = 0] = await memory();
    say("waiting: starting flows");
    const begun = Date.now();
    await atMost(20, runs, (run) => start(temporal, run));
    const pending = await untilAllWait(temporal, runs);
    const untilWait = Date.now() - begun;
    const idleCpuPercent = await cpuPercent(workers.map(({ child }) => child));
    const [gardenWaiting = 0, seedWaiting = 0] = await memory();

    say(
      `waiting: all wait, the garden's worker with ${gardenWaiting} MB, the seed's with ${seedWaiting} MB; waking them`,
    );
    await atMost(20, runs, (run) =>
      kube.patch(refOf(run), { metadata: { annotations: { "gardener.cloud/operation": null } } }),
    );
    const singles = await wakeOneByOne(kube, temporal, runs.slice(0, samples));
    const together = await wakeAll(kube, temporal, runs.slice(samples));
    return findings({
      shoots,
      pending,
      untilAllWait: untilWait,
      seedMemory: [seedIdle, seedWaiting],
      gardenMemory: [gardenIdle, gardenWaiting],
      idleCpuPercent,
      single: {
        samples,
        woken: percentiles(singles.map(({ woken }) => woken)),
        acted: percentiles(singles.map(({ acted }) => acted)),
      },
      together,
    });
  } finally {
    await Promise.all(workers.map(stopWorker));
  }
}

function findings(figures: WaitingFigures): Findings {
  const { shoots, single, together } = figures;
  const memory = ([idle, waiting]: readonly [number, number]) =>
    `${idle} MB, ${waiting} MB: ${Math.round(((waiting - idle) * 1_024) / shoots)} KB a flow`;
  const rows = [
    ["pending activities, where the seed worker has 50 slots", String(figures.pending)],
    ["until all wait", seconds(figures.untilAllWait)],
    ["seed worker: resident memory idle, waiting", memory(figures.seedMemory)],
    ["garden worker: resident memory idle, waiting", memory(figures.gardenMemory)],
    ["CPU of both workers while all wait", `${figures.idleCpuPercent} % of a core`],
    [`one wakes: activity completed, p50 / p95 of ${single.samples}`, `${single.woken.p50} / ${single.woken.p95} ms`],
    ["one wakes: its flow has acted, p50 / p95", `${single.acted.p50} / ${single.acted.p95} ms`],
    [`${together.shoots} wake: until the last status is written`, seconds(together.written)],
    [`${together.shoots} wake: until the last activity is completed`, seconds(together.woken)],
    [`${together.shoots} wake: until the last flow has acted`, seconds(together.acted)],
  ] as const;
  return {
    figures,
    tables: [{ title: `${shoots} Shoots wait at once`, rows }],
  };
}

const workflowId = (run: ShootRun) => flowWorkflowId(run, "reconcile");
const refOf = ({ technicalID, name }: ShootRun) => refTo(Infrastructure, { namespace: technicalID, name });

const createShoots = (kube: KubeClient, count: number): Promise<readonly ShootRun[]> =>
  atMost(
    20,
    Array.from({ length: count }, (_, index) => `bench-${index}`),
    (name) => createShoot(kube, name),
  );

interface BenchWorker {
  readonly child: ChildProcess;
  /** The id of its workflows, where it runs any. */
  readonly build: string;
}

async function startWorker(role: string, address: string, kubeconfig: string): Promise<BenchWorker> {
  const child = fork(fileURLToPath(new URL("waiting-worker.ts", import.meta.url)), [role, address, kubeconfig], {
    execArgv: [...process.execArgv, ...frugal.flags],
    env: { ...process.env, ...frugal.env },
  });
  const [build] = (await once(child, "message")) as [string];
  await sleep(1_000);
  return { child, build };
}

async function stopWorker({ child }: BenchWorker): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const start = (temporal: TemporalServer, run: ShootRun) =>
  temporal.client.workflow.start("waitUntilReady", {
    workflowId: workflowId(run),
    taskQueue: gardenQueue,
    args: [run],
  });

/** The number of activities that wait: registered in the seed, begun and left open in Temporal. */
async function untilAllWait(temporal: TemporalServer, runs: readonly ShootRun[]): Promise<number> {
  let left = runs;
  const deadline = Date.now() + LONGEST;
  while (left.length > 0) {
    if (Date.now() > deadline)
      throw new Error(`${left.length} of ${runs.length} flows do not wait after ${LONGEST / 1_000} s`);
    const waiting = await atMost(20, left, (run) => waits(temporal, run));
    left = left.filter((_, index) => waiting[index] !== true);
    if (left.length > 0) await sleep(200);
  }
  return runs.length;
}

async function waits({ client }: TemporalServer, run: ShootRun): Promise<boolean> {
  const { raw } = await client.workflow.getHandle(workflowId(run)).describe();
  return (raw.pendingActivities ?? []).some(
    ({ activityId, state }) => activityId === "infrastructure/wait" && Number(state) === STARTED,
  );
}

/** In ms; 5,000 Shoots take their time. */
const LONGEST = 900_000;

/** PENDING_ACTIVITY_STATE_STARTED. */
const STARTED = 2;

async function wake(kube: KubeClient, run: ShootRun): Promise<number> {
  const object = await kube.read(refOf(run));
  if (object?.metadata.annotations?.[WAIT_ANNOTATION] === undefined) throw new Error(`nobody waits for ${run.name}`);
  const at = Date.now();
  await kube.patch(refOf(run), { status: extended(object.metadata) }, { subresource: "status" });
  return at;
}

async function wakeOneByOne(kube: KubeClient, temporal: TemporalServer, runs: readonly ShootRun[]) {
  const times: { woken: number; acted: number }[] = [];
  for (const run of runs) {
    const at = await wake(kube, run);
    await temporal.client.workflow.getHandle(workflowId(run)).result();
    const { woken, acted } = await wakeTimes(temporal.client, workflowId(run));
    times.push({ woken: woken - at, acted: acted - at });
  }
  return times;
}

async function wakeAll(kube: KubeClient, { client }: TemporalServer, runs: readonly ShootRun[]) {
  const begun = Date.now();
  await atMost(50, runs, (run) => wake(kube, run));
  const written = Date.now() - begun;
  await atMost(20, runs, (run) => client.workflow.getHandle(workflowId(run)).result());
  const times = await atMost(20, runs, (run) => wakeTimes(client, workflowId(run)));
  return {
    shoots: runs.length,
    written,
    woken: Math.round(Math.max(...times.map(({ woken }) => woken)) - begun),
    acted: Math.round(Math.max(...times.map(({ acted }) => acted)) - begun),
  };
}

/** Of all children together, over ten seconds, in which nothing happens. */
async function cpuPercent(children: readonly ChildProcess[]): Promise<number> {
  const ticks = async () => (await Promise.all(children.map(cpuTicks))).reduce((sum, one) => sum + one, 0);
  const before = await ticks();
  await sleep(10_000);
  return Math.round((await ticks()) - before) / 10; // a tick is 10 ms
}

async function cpuTicks({ pid }: ChildProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheDirectory } from "../src/local/binary/binaries.ts";
import { ensureGardenadmImage } from "../src/local/image/gardenadm-image.ts";
import { createLogger } from "../src/log.ts";
import { seconds, type Findings, type MachineBench, type Order, type Table } from "./bench.ts";
import { takeFiles, type ByHandCost } from "./self-hosted/by-hand.ts";
import { packedSize, startMachineGround, type MachineGround } from "./self-hosted/ground.ts";
import { probeDuring, type ProbeResult } from "./self-hosted/probe.ts";
import { measureRestore, type RestoreCost } from "./self-hosted/restore-cost.ts";
import { watchInit, type InitCost } from "./self-hosted/watched-init.ts";
import { changesOf, lookAtWorld } from "./self-hosted/world.ts";

/** What it takes to make a cluster that carries its own control plane, and what its clients notice of what happens to it. */
export const selfHosted: MachineBench = { name: "self-hosted", measureMachines: measure };

async function measure({ short, say }: Order): Promise<Findings> {
  const packed = await measureImage();
  if (short) {
    say("self-hosted: the size of gardenadm only; for all of it: npm run bench -- self-hosted, as root");
    return { figures: { packed }, tables: [sizeTable(packed)] };
  }
  const ground = await startMachineGround("bench-self-hosted");
  try {
    const single = await measureSingle(ground, say);
    const several = await measureSeveral(ground, say);
    say("self-hosted: the same by hand");
    for (const name of ["b", "c", "w"]) await ground.machines.remove(name);
    const byHand = await single.files.place();
    await single.files.forget();
    say("self-hosted: an etcd's data are restored");
    const restore = await measureRestore();
    const { init, again, on } = single;
    return {
      figures: { packed, init, again, on, ...several, byHand, restore },
      tables: [
        initTable(init, byHand),
        againTable(again),
        severalTable(several, on),
        restoreTable(restore),
        sizeTable(packed),
      ],
    };
  } finally {
    await ground.machines.removeAll();
  }
}

/** MB of what machines download. */
async function measureImage(): Promise<number> {
  const log = createLogger({ name: "bench", level: "silent" });
  const { tar } = await ensureGardenadmImage(join(cacheDirectory(), "images"), log);
  return (await packedSize(tar)) / 1e6;
}

/** The first node, while it is the only one. */
async function measureSingle(ground: MachineGround, say: Order["say"]) {
  say("self-hosted: a machine, and init");
  await ground.provide("a");
  const init = await watchInit(ground, "a");
  await sleep(SETTLE);
  say("self-hosted: init again");
  const before = await lookAtWorld(ground, "a");
  const { command, own, cpu } = await watchInit(ground, "a");
  const { sorts, ...changes } = changesOf(before, await lookAtWorld(ground, "a"));
  if (sorts.length > 0) say(`self-hosted: init again has written: ${sorts.join(", ")}`);
  const files = await takeFiles(ground, "a");
  say("self-hosted: power off and on");
  await ground.machines.cutPower("a");
  const begun = performance.now();
  await ground.machines.on("a");
  await ground.apiReady("a");
  return { init, again: { command, own, cpu, ...changes }, on: performance.now() - begun, files };
}

/** Three nodes of the control plane and a worker. */
async function measureSeveral(ground: MachineGround, say: Order["say"]) {
  for (const name of ["w", "b", "c"]) await ground.provide(name);
  say("self-hosted: a worker joins");
  const worker = await joinNode(ground, "w", false);
  say("self-hosted: b and c join the control plane");
  const second = await probeDuring(ground, "w", ["a"], () => joinNode(ground, "b", true));
  const third = await probeDuring(ground, "w", ["a", "b"], () => joinNode(ground, "c", true));
  await sleep(SETTLE);
  const agents = { worker: await agentMemory(ground, "w"), controlPlane: await agentMemory(ground, "b") };
  say("self-hosted: a loses its power");
  const cut = await probeDuring(ground, "w", ["a", "b", "c"], async () => {
    await sleep(2_000);
    await ground.machines.cutPower("a");
    await sleep(60_000);
  });
  await ground.machines.on("a");
  return {
    worker,
    joins: [second, third].map(({ result: ms, seen }) => ({ ms, ...seen })),
    cut: cut.seen,
    agents,
  };
}

/** Until what an operation has brought about is over; ms. */
const SETTLE = 60_000;

/** From the line that is pasted to its end, when the node is Ready, and serves where it carries the control plane; ms. */
async function joinNode(ground: MachineGround, name: string, controlPlane: boolean): Promise<number> {
  const words = ["gardenadm", "token", "create", "--print-join-command", ...(controlPlane ? ["--control-plane"] : [])];
  const line = await ground.run("a", words);
  const begun = performance.now();
  await ground.run(name, ["sh"], line);
  return performance.now() - begun;
}

/** A node agent at rest, in MB: resident memory of its process, and what its cgroup is charged. */
async function agentMemory(ground: MachineGround, name: string): Promise<{ resident: number; cgroup: number }> {
  const text = await ground.run(name, ["bash", "-c", READ_MEMORY]);
  const value = (pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  return {
    resident: Math.round(value(/VmRSS:\s+(\d+)/) / 1_024),
    cgroup: Math.round(value(/MemoryCurrent=(\d+)/) / 1_048_576),
  };
}

const READ_MEMORY = `
unit=gardener-node-agent.service
grep VmRSS "/proc/$(systemctl show --property MainPID --value $unit)/status"
systemctl show --property MemoryCurrent $unit
`;

function initTable({ command, usable, memory, cpu, own }: InitCost, byHand: ByHandCost): Table {
  return {
    title: "gardenadm init, on a bare machine with all images",
    rows: [
      ["until the node is Ready", seconds(command)],
      ["until a pod runs and a name is answered, too", seconds(usable)],
      ["kubelet and static pods placed by hand, until the node is Ready", seconds(byHand.ready)],
      ["network, proxy and DNS applied by hand, until a pod runs and a name is answered, too", seconds(byHand.usable)],
      ["ratio", (usable / byHand.usable).toFixed(2)],
      ["outside of steps that wait", `${seconds(own)} = ${((100 * own) / command).toFixed(0)} %`],
      ["processor time of gardenadm and what it runs", seconds(cpu)],
      ["resident memory at its peak", `${memory} MB`],
    ],
  };
}

interface Again {
  readonly command: number;
  readonly writes: number;
  readonly objects: number;
  readonly files: number;
  readonly units: number;
}

function againTable({ command, writes, objects, files, units }: Again): Table {
  return {
    title: "gardenadm init again, when all is done",
    rows: [
      ["time", seconds(command)],
      ["objects changed; files written; units restarted", `${objects}; ${files}; ${units}`],
      ["requests that write", String(writes)],
    ],
  };
}

type Several = Awaited<ReturnType<typeof measureSeveral>>;

function severalTable({ worker, joins, cut, agents }: Several, on: number): Table {
  return {
    title: "Three nodes with a control plane, and a worker",
    rows: [
      ["a worker joins, until Ready", seconds(worker)],
      ...joins.map(
        ({ ms, ...seen }, index) =>
          [`node ${index + 2} of the control plane joins`, `${seconds(ms)}; ${inWords(seen)}`] as const,
      ),
      ["one of three loses its power", inWords(cut)],
      ["a single node is switched on, until its API server is ready", seconds(on)],
      ["node agent at rest on a worker: resident; cgroup", `${agents.worker.resident} MB; ${agents.worker.cgroup} MB`],
      [
        "the same on a node of the control plane",
        `${agents.controlPlane.resident} MB; ${agents.controlPlane.cgroup} MB`,
      ],
    ],
  };
}

const inWords = ({ name, service }: ProbeResult): string =>
  [
    `by name ${name.refused} of ${name.asked} refused, longest gap ${seconds(name.longestGap)}`,
    `by Service ${service.refused} of ${service.asked}, ${seconds(service.longestGap)}`,
  ].join("; ");

function restoreTable({ bytes, snapshot, member }: RestoreCost): Table {
  const perGigabyte = (ms: number) => `${seconds(ms)}, which is ${seconds(ms / (bytes / 1e9))} for each GB`;
  return {
    title: `An etcd of ${(bytes / 1e9).toFixed(2)} GB gets its data again`,
    rows: [
      ["of a snapshot", perGigabyte(snapshot)],
      ["of a member that has lost its quorum", perGigabyte(member)],
    ],
  };
}

const sizeTable = (packed: number): Table => ({
  title: "gardenadm",
  rows: [["its image, which brings its own Node, packed by gzip", `${packed.toFixed(0)} MB`]],
});

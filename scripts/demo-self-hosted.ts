/**
 * The demo of self-hosted Shoots: makes four machines, begins a cluster on the first, joins the others, runs a pod on the
 * worker, and asks how all stands. Every part looks at what is there already, so that it can be interrupted and run again at any point.
 */
import type { BaseContext } from "../src/cli/base-context.ts";
import { exitCodes, explainError, type Exit } from "../src/cli/exit.ts";
import { formatDuration } from "../src/cli/display/time.ts";
import { paint } from "../src/cli/display/style.ts";
import { processTerminal } from "../src/cli/display/terminal.ts";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import type { BareMachines } from "../src/local/bare/machines.ts";
import { createLogger } from "../src/log.ts";
import { fetchAccess, type Access } from "./demo-self-hosted/access.ts";
import { initCluster, joinMachine, NEWCOMERS } from "./demo-self-hosted/cluster.ts";
import { makeMachines, openMachines, SET } from "./demo-self-hosted/machines.ts";
import { showInMachine } from "./demo-self-hosted/run-in-machine.ts";
import { runPod } from "./demo-self-hosted/workload.ts";

const terminal = processTerminal();
const interruption = new AbortController();
process.on("SIGINT", () => {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  interruption.abort();
});

process.exitCode = exitCodes[await demo({ terminal, signal: interruption.signal, now: () => Date.now() })];

async function demo(context: BaseContext): Promise<Exit> {
  try {
    await runParts(context);
    return "done";
  } catch (error) {
    const { exit, sentence } = explainError(error);
    const end = context.signal.aborted ? "interrupted" : exit;
    if (end !== "interrupted") terminal.err.write(`${paint(terminal.err, "bad", "error:")} ${sentence}\n`);
    terminal.err.write(
      "The demo stopped; what is there is kept. Run it again to go on from here: npm run demo:self-hosted\n",
    );
    return end;
  }
}

async function runParts(context: BaseContext): Promise<void> {
  const clock = createClock(context);
  const machines = openMachines(context);
  await clock.part("Machines", () => makeMachines(context, machines));
  await clock.part("The first node", () => initCluster(context, machines));
  const access = await fetchAccess(machines);
  try {
    for (const newcomer of NEWCOMERS)
      await clock.part(`Node ${newcomer.name}`, () => joinMachine(context, machines, access.client, newcomer));
    const url = await clock.part("A pod", () => runPod(context, machines, access));
    await clock.part("How it stands", () => showStatus(context, machines));
    await conclude(machines, access, [...clock.lines(), "", ...(await nextThings(access, url))]);
  } finally {
    await access.client.close();
  }
}

/** What a node of the control plane says of the cluster, and what a worker does. */
async function showStatus(context: BaseContext, machines: BareMachines): Promise<void> {
  for (const name of ["b", "w"]) await showInMachine(context, machines, name, { command: ["gardenadm", "status"] });
}

/** Titles and times of parts that follow one another. */
function createClock({ signal }: BaseContext) {
  const began = performance.now();
  const times: (readonly [title: string, elapsed: number])[] = [];
  return {
    async part<T>(title: string, run: () => Promise<T>): Promise<T> {
      signal.throwIfAborted();
      writeTitle(`${times.length + 1}. ${title}`);
      const before = performance.now();
      const result = await run();
      times.push([title, performance.now() - before]);
      return result;
    },
    lines: () =>
      [...times, ["Together", performance.now() - began] as const].map(
        ([title, elapsed]) => `${title.padEnd(18)}${formatDuration(elapsed)}`,
      ),
  };
}

async function conclude(machines: BareMachines, { file }: Access, lines: readonly string[]): Promise<void> {
  const off = (await machines.list()).filter(({ state }) => state !== "On").map(({ name }) => name);
  if (off.length > 0) throw new Error(`machines ${off.join(", ")} went off meanwhile`);
  writeTitle("Done");
  terminal.out.write(`Four nodes are Ready. The administrator's kubeconfig: ${file}\n\n${lines.join("\n")}\n`);
}

async function nextThings({ file }: Access, url: string): Promise<string[]> {
  const { kubectl } = await ensureBinaries(["kubectl"], { log: createLogger({ name: "demo", level: "silent" }) });
  const machine = (words: string) => `    bin/perennial local machine ${words} --set ${SET}`;
  return [
    "Power a off, and see the cluster go on; after a minute or two a is not Ready; switched on, it comes back by itself:",
    machine("off a --hard"),
    `    ${kubectl} --kubeconfig ${file} --context b get nodes`,
    `    curl ${url}`,
    machine("on a"),
    "What a node says of itself and its cluster, also while nothing answers:",
    `    bin/perennial local machine shell b --set ${SET} -- gardenadm status`,
    "",
    "Take everything away:",
    machine("remove --all"),
  ];
}

function writeTitle(text: string): void {
  terminal.out.write(`\n${paint(terminal.out, "strong", text)}\n`);
}

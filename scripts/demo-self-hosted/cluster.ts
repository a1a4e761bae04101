import { setTimeout as sleep } from "node:timers/promises";
import type { BaseContext } from "../../src/cli/base-context.ts";
import { Node, type KubeClient } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";
import { askInMachine, runInMachine, showInMachine } from "./run-in-machine.ts";

/**
 * Runs `gardenadm init` on the first machine, which changes nothing where all is done; where nothing was begun, `--plan` first.
 * `discover` is left out: there is no garden, and the configuration is written by hand.
 */
export async function initCluster(context: BaseContext, machines: BareMachines): Promise<void> {
  await untilIdle(context, machines, FIRST);
  if ((await machines.exec(FIRST, ["test", "-e", "/var/lib/gardenadm"])).code !== 0)
    await showInMachine(context, machines, FIRST, {
      command: ["gardenadm", "init", "-d", CONFIGURATION_FOLDER, "--plan"],
      atMost: 12,
    });
  await gardenadm(context, machines, FIRST, ["gardenadm", "init", "-d", CONFIGURATION_FOLDER]);
}

/** Whether and how a machine is to join. */
export interface Newcomer {
  readonly name: string;
  readonly controlPlane: boolean;
}

/** The machines that join, one after another. */
export const NEWCOMERS: readonly Newcomer[] = [
  { name: "b", controlPlane: true },
  { name: "c", controlPlane: true },
  { name: "w", controlPlane: false },
];

/** Joins the machine, unless it is a node that is Ready already. */
export async function joinMachine(
  context: BaseContext,
  machines: BareMachines,
  client: KubeClient,
  { name, controlPlane }: Newcomer,
): Promise<void> {
  const { out } = context.terminal;
  await untilIdle(context, machines, name);
  if (await isReady(client, name)) return void out.write(`${name} is a node already, and Ready.\n`);
  const words = ["gardenadm", "token", "create", "--print-join-command", ...(controlPlane ? ["--control-plane"] : [])];
  out.write(`[${FIRST}]$ ${words.join(" ")}\n`);
  const line = await askInMachine(machines, FIRST, words);
  out.write(`[${name}]$ ${line.replace(/^echo \S+/, "echo TOKEN")}\n`);
  await writeLine(machines, name, line);
  await runInMachine(machines, name, ["sh", LINE]);
}

/** The machine that the cluster begins on. */
export const FIRST = "a";

/** Where the line to paste is put, for root only: a list of processes would show an argument. */
const LINE = "/run/join";

async function writeLine({ exec }: BareMachines, name: string, line: string): Promise<void> {
  const { code, stderr } = await exec(name, ["sh", "-c", `umask 077 && cat > ${LINE}`], {
    stdin: `rm ${LINE}\n${line}\n`,
  });
  if (code !== 0) throw new Error(`cannot write ${LINE} on ${name}: ${stderr.trim()}`);
}

async function gardenadm({ terminal }: BaseContext, machines: BareMachines, name: string, words: readonly string[]) {
  terminal.out.write(`[${name}]$ ${words.join(" ")}\n`);
  await runInMachine(machines, name, words);
}

/** One that an earlier run of the demo began goes on by itself where that run was killed. */
async function untilIdle({ terminal, signal }: BaseContext, { exec }: BareMachines, name: string): Promise<void> {
  const isBusy = async () => (await exec(name, ["grep", "--quiet", LOCK, "/proc/net/unix"])).code === 0;
  if (!(await isBusy())) return;
  terminal.err.write(`gardenadm is at work on ${name} since an earlier run: waiting until it has ended\n`);
  while (await isBusy()) await sleep(500, undefined, { signal });
}

/** What gardenadm holds while a command of it changes the machine. */
const LOCK = "@perennial:/var/lib/gardenadm/lock";

async function isReady(client: KubeClient, name: string): Promise<boolean> {
  const node = await client.read(Node, { name });
  return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CONFIGURATION_FOLDER, giveConfiguration } from "../../src/local/bare/configuration.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import { createBareMachines, type BareMachines } from "../../src/local/bare/machines.ts";
import type { ClusterWork, Ground } from "./ground.ts";

/** The set of machines of the conformance tests: one that carries the control plane, and two workers. */
const SET = "conformance-bare";
const FIRST = "a";
const WORKERS = ["v", "w"] as const;

/** Makes a self-hosted cluster with two workers, runs the work on it, and takes everything away. What a killed run has left goes first. */
export async function onSelfHostedCluster<T>(ground: Ground, work: ClusterWork<T>): Promise<T> {
  const machines = createBareMachines(SET, ground.log, ground.tell);
  await machines.removeAll();
  try {
    for (const name of [FIRST, ...WORKERS]) {
      ground.signal.throwIfAborted();
      ground.tell(`making machine ${name}`);
      await machines.create(name);
      await giveGardenadm(machines, name, ground);
      await giveConfiguration(machines, name, ground);
      await machines.loadImages(name, [ground.archive]);
    }
    ground.tell("making a cluster of them");
    await succeed(machines, FIRST, ["gardenadm", "init", "-d", CONFIGURATION_FOLDER]);
    for (const name of WORKERS) {
      ground.signal.throwIfAborted();
      await joinMachine(machines, name);
    }
    return await work(await fetchKubeconfig(machines, ground.folder));
  } finally {
    await machines.removeAll();
  }
}

async function joinMachine(machines: BareMachines, name: string): Promise<void> {
  const line = await succeed(machines, FIRST, ["gardenadm", "token", "create", "--print-join-command"]);
  await succeed(machines, name, ["sh"], `${line}\n`);
}

async function fetchKubeconfig(machines: BareMachines, folder: string): Promise<string> {
  const text = await succeed(machines, FIRST, ["cat", "/etc/kubernetes/admin.conf"]);
  const address = (await machines.list()).find(({ name }) => name === FIRST)?.address;
  if (address === undefined) throw new Error(`machine ${FIRST} has no address`);
  const file = join(folder, "self-hosted.yaml");
  await writeFile(file, text.replace("https://localhost", `https://${address}`), { mode: 0o600 });
  return file;
}

/** Runs a command that has to succeed, and answers what it wrote. */
async function succeed(
  machines: BareMachines,
  name: string,
  command: readonly string[],
  stdin?: string,
): Promise<string> {
  const result = await machines.exec(name, command, stdin === undefined ? {} : { stdin });
  if (result.code !== 0) throw new Error(`cannot run ${command.join(" ")} on machine ${name}: ${result.stderr.trim()}`);
  return result.stdout;
}

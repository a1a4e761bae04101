/**
 * Runs in a machine, as the child of its PID 1: starts containerd, applies the user data at the first boot, keeps the
 * units running, and is the machine's node agent where the user data has a configuration for one. Its argument is the file
 * with its BootInstructions. Imports little more than Node's own modules, as every machine has one of these in memory.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agentConfiguration, followConfiguration } from "./agent.ts";
import { createSupervisor } from "./apply.ts";
import { containerdSocket, containerdUnit, importCommand, installImage, type MachineImage } from "./image.ts";
import type { MachineFacts, UserData } from "./user-data.ts";

/** Everything the runner must know, from the host. */
export interface BootInstructions {
  readonly facts: MachineFacts;
  readonly image: MachineImage;
  readonly userData: UserData;
  readonly logDir: string;
}

if (import.meta.main) await main(process.argv[2] ?? "");

async function main(file: string): Promise<void> {
  const { facts, image, userData, logDir } = JSON.parse(readFileSync(file, "utf8")) as BootInstructions;
  const say = (text: string) => process.stdout.write(`${new Date().toISOString()} ${text}\n`);
  installImage(image);
  const supervisor = createSupervisor("/var/lib/perennial-machine", logDir, facts);
  await supervisor.start("containerd.service", containerdUnit);
  await waitForSocket(containerdSocket);
  for (const tar of image.imageTars) {
    const [ctr = "", ...args] = importCommand(tar);
    execFileSync(ctr, args, { stdio: "inherit" });
  }
  say("containerd is up");
  setInterval(() => cutLogs(logDir), 60_000);
  if (supervisor.provisioned) await supervisor.resume();
  else await supervisor.apply(userData);
  say("units are started");
  const configuration = agentConfiguration();
  if (configuration !== undefined)
    await followConfiguration(configuration, { name: facts.name, apply: supervisor.apply, say });
}

async function waitForSocket(path: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await canConnect(path))) {
    if (Date.now() > deadline) throw new Error(`${path} does not answer`);
    await sleep(20);
  }
}

async function canConnect(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Units append to their logs, so a log can be emptied while it is written. */
function cutLogs(logDir: string): void {
  for (const name of readdirSync(logDir)) {
    const path = join(logDir, name);
    if (statSync(path).size > 20_000_000) truncateSync(path);
  }
}

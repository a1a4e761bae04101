import { createReadStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { commandLines } from "../../api/command-lines.ts";
import type { Logger } from "../../log.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { ensurePackages } from "../binary/packages.ts";
import type { Environment } from "../environment/environment.ts";
import type { Image } from "../image/build.ts";
import { readPid1 } from "../machine/boot.ts";
import { requireMachineHost } from "../machine/host.ts";
import {
  ensureMachine,
  cutPower,
  discardMachine,
  reviveMachine,
  wipeMachine,
  type Host,
} from "../machine/lifecycle.ts";
import { createMachines } from "../machine/machines.ts";
import { isAlive, type ProcessIdentity } from "../machine/process.ts";
import { machineNames, machinePaths, readRecord } from "../machine/record.ts";
import { ensureRootFilesystem } from "../image/root-filesystem.ts";
import { createImageStore } from "../image/store.ts";
import { enterCommand, type EnterOptions } from "./enter.ts";
import { findSet, leaveSet, withSet } from "./set.ts";

/** A bare machine as it is now. */
export interface BareMachine {
  readonly name: string;
  /** One whose making was cut off is unfinished: creating it goes on, removing it takes it away. */
  readonly state: "On" | "Off" | "Unfinished";
  /** In the set's network; its own until it is removed. */
  readonly address?: string;
  readonly createdAt?: string;
  /** Where the host finds its file system while it is on. */
  readonly root?: string;
}

/**
 * Machines with a real systemd and containerd and nothing of Kubernetes, in a network of their own that the host reaches, too.
 * What is in them is their own and outlives their boots. Needs root.
 */
export interface BareMachines {
  /** Makes the machine, or goes on where that was cut off, and switches it on; returns when its PID 1 runs. */
  create(name: string): Promise<void>;
  list(): Promise<BareMachine[]>;
  on(name: string): Promise<void>;
  /** Has its systemd stop all units, and returns when it is off; throws after a minute. */
  shutDown(name: string): Promise<void>;
  /** At once, as seen from inside and from its peers. */
  cutPower(name: string): Promise<void>;
  /** Switches it off as `cutPower` does and on again with an empty disk, a new machine id and its old address. */
  wipe(name: string): Promise<void>;
  /** Leaves nothing of the machine, and of the set with its last one; success when there is none. */
  remove(name: string): Promise<void>;
  /** Gives its containerd these images, in the namespace of Kubernetes'. */
  loadImages(name: string, images: readonly Image[]): Promise<void>;
  /** Runs a command in it as root and answers what it wrote; `input` is a file of the host. Throws where the command fails. */
  run(name: string, command: readonly string[], input?: string): Promise<string>;
  /** Runs a command in it as root, a login shell without one, on the terminal or pipes of this process; answers its exit code. */
  shell(name: string, command: readonly string[]): Promise<number>;
}

/** The bare machines of the set of this name; `tell` is told what the first of a host waits for. */
export function createBareMachines(
  setName: string,
  log: Logger,
  tell: (message: string) => void = () => {},
): BareMachines {
  const hostOf = (env: Environment): Host => ({ env, log, prepareStore: createImageStore(log) });
  const enter = async (name: string, options: EnterOptions) => {
    const set = await requireMachine(setName, name);
    const pid1 = await findPid1(set, name);
    if (pid1 === undefined)
      throw new Error(`machine ${name} is off: switch it on with '${commandLines.switchOn(name, setName)}'`);
    return enterCommand(pid1, machinePaths(set, name).cgroup, options);
  };
  const run: BareMachines["run"] = async (name, command, input) => {
    const [program, ...args] = await enter(name, { command });
    const stdin = input === undefined ? ({ stdin: "ignore" } as const) : { input: createReadStream(input) };
    return (await execa(program, args, stdin)).stdout;
  };
  return {
    run,
    async shell(name, command) {
      const terminal = process.stdin.isTTY && process.stdout.isTTY;
      const typed = command.length > 0 ? command : ["bash", "--login"];
      const [program, ...args] = await enter(name, { command: typed, terminal });
      const { exitCode = 1 } = await execa(program, args, { stdio: "inherit", reject: false });
      return exitCode;
    },
    async create(name) {
      requireMachineHost();
      await ensurePackages({ names: hostPackages, onProgress: tell });
      await ensureRootFilesystem(cacheDirectory(), tell);
      await withSet(setName, async (set) => void (await ensureMachine(hostOf(set), { name, labels: {} })));
    },
    async list() {
      const set = await findSet(setName);
      if (set === undefined) return [];
      return await Promise.all((await machineNames(set)).map(async (name) => await describe(set, name)));
    },
    async on(name) {
      await reviveMachine(hostOf(await requireMachine(setName, name)), name);
    },
    async cutPower(name) {
      await cutPower(hostOf(await requireMachine(setName, name)), name);
    },
    async shutDown(name) {
      const set = await requireMachine(setName, name);
      const pid1 = await findPid1(set, name);
      if (pid1 !== undefined) await powerOff(pid1, name, setName);
      await cutPower(hostOf(set), name);
    },
    async wipe(name) {
      await wipeMachine(hostOf(await requireMachine(setName, name)), name);
    },
    async remove(name) {
      await leaveSet(setName, async (set) => {
        await discardMachine(hostOf(set), name);
        if ((await machineNames(set)).length > 0) return "used";
        await createMachines(set, log).removeAll();
        return "empty";
      });
    },
    async loadImages(name, images) {
      await run(name, ["systemctl", "start", "containerd"]);
      for (const { tar } of images) await run(name, importing, tar);
    },
  };
}

/** What makes namespaces and networks; the rest is in the machines. */
const hostPackages = ["iproute2", "iptables", "util-linux"] as const;

const importing = ["ctr", "--namespace", "k8s.io", "images", "import", "-"] as const;

async function describe(set: Environment, name: string): Promise<BareMachine> {
  const record = await readRecord(machinePaths(set, name));
  const pid1 = await findPid1(set, name);
  if (record === undefined) return { name, state: "Unfinished" };
  const { address, createdAt, disk } = record;
  if (pid1 !== undefined) return { name, state: "On", address, createdAt, root: `/proc/${pid1.pid}/root` };
  const state = disk !== undefined && "blank" in disk ? "Unfinished" : "Off";
  return { name, state, address, createdAt };
}

async function requireMachine(setName: string, name: string): Promise<Environment> {
  const set = await findSet(setName);
  const record = set && (await readRecord(machinePaths(set, name)));
  if (set === undefined || record === undefined)
    throw new Error(`there is no machine ${name}: make it with '${commandLines.createMachine(name, setName)}'`);
  return set;
}

async function findPid1(set: Environment, name: string): Promise<ProcessIdentity | undefined> {
  const pid1 = await readPid1(machinePaths(set, name));
  return pid1 !== undefined && (await isAlive(pid1)) ? pid1 : undefined;
}

/** What systemd takes as the order to power off (systemd(1), SIGRTMIN+4). */
const powerOffSignal = 34 + 4;

async function powerOff(pid1: ProcessIdentity, name: string, setName: string): Promise<void> {
  process.kill(pid1.pid, powerOffSignal);
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(50)) if (!(await isAlive(pid1))) return;
  throw new Error(
    `machine ${name} has not stopped its units within a minute: cut its power with '${commandLines.cutPower(name, setName)}'`,
  );
}

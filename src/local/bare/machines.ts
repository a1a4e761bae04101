import { createReadStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { commandLines } from "../../api/command-lines.ts";
import type { Logger } from "../../log.ts";
import { ensurePackages } from "../binary/packages.ts";
import type { Environment } from "../environment/environment.ts";
import type { Image } from "../image/build.ts";
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
import type { Init } from "../machine/machine.ts";
import { isAlive, type ProcessIdentity } from "../machine/process.ts";
import { machineNames, machinePaths, requireName } from "../machine/record.ts";
import { createImageStore } from "../image/store.ts";
import { stopBucket } from "./bucket.ts";
import { enterCommand, type EnterOptions } from "./enter.ts";
import { attach, execute, mustExec, type Exec } from "./exec.ts";
import { initFor } from "./init.ts";
import { writePeers } from "./peers.ts";
import { findSet, inSet, withSet } from "./set.ts";
import { describe, findPid1, peersOf, requireMachine, type BareMachine } from "./state.ts";
import { untilStarted } from "./started.ts";

/**
 * Machines with an init system and containerd and nothing of Kubernetes, in a network of their own that the host reaches, too.
 * What is in them is their own and outlives their boots. Needs root.
 */
export interface BareMachines {
  /** Makes the machine, or goes on where that was cut off, and switches it on; returns when its units have started and its peers know its name. */
  create(name: string, options?: CreateOptions): Promise<void>;
  list(): Promise<BareMachine[]>;
  /** Returns when its units have started. */
  on(name: string): Promise<void>;
  /** Has its init system stop all units, and returns when it is off; throws after a minute. */
  shutDown(name: string): Promise<void>;
  /** At once, as seen from inside and from its peers. */
  cutPower(name: string): Promise<void>;
  /** Switches it off as `cutPower` does and on again with an empty disk, a new machine id and its old address. */
  wipe(name: string): Promise<void>;
  /** Leaves nothing of the machine, and of the set with its last one; success when there is none. */
  remove(name: string): Promise<void>;
  /** Leaves nothing of the set, also where it has no machine yet; success when there is none. */
  removeAll(): Promise<void>;
  /** Gives its containerd these images, in the namespace of Kubernetes'. */
  loadImages(name: string, images: readonly Image[]): Promise<void>;
  /**
   * Runs a command in it as root, in root's home and environment, and answers how it ended; throws only where there is no such
   * machine or it is off. What it leaves running ends with the machine.
   */
  readonly exec: Exec;
  /** Runs a command in it as root, a login shell without one, on the terminal or pipes of this process; answers its exit code. */
  shell(name: string, command: readonly string[]): Promise<number>;
}

/** How a bare machine is made. */
export interface CreateOptions {
  /** A systemd where this host can boot one, unless told otherwise. */
  readonly init?: Init | undefined;
}

/**
 * The bare machines of the set of this name, which is there while one of them is; `tell` is told what the first of a host waits
 * for. It takes no environment, only root:
 *
 *     const machines = createBareMachines("test-init", log);
 *     for (const name of ["a", "b"]) await machines.create(name);
 *     const { code, stdout, stderr } = await machines.exec("a", ["tee", "/root/file"], { stdin: "text" });
 *     await machines.removeAll();
 */
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
  const exec: Exec = async (name, command, options = {}) => await execute(await enter(name, { command }), options);
  /** A machine that has just booted knows the others from then on. */
  const start = async (set: Environment, name: string) => {
    await untilStarted(exec, name, setName);
    await writePeers(exec, name, await peersOf(set));
  };
  const tellPeers = async (set: Environment) => {
    const peers = await peersOf(set);
    for (const { name } of peers) if (await findPid1(set, name)) await writePeers(exec, name, peers);
  };
  return {
    exec,
    async shell(name, command) {
      const terminal = process.stdin.isTTY && process.stdout.isTTY;
      return await attach(await enter(name, { command: command.length > 0 ? command : ["bash", "--login"], terminal }));
    },
    async create(name, { init: asked } = {}) {
      requireMachineHost();
      requireName(name);
      await ensurePackages({ names: hostPackages, onProgress: tell });
      const init = await initFor(setName, name, { asked, tell });
      await withSet(setName, async (set) => {
        await ensureMachine(hostOf(set), { name, labels: {}, init });
        await untilStarted(exec, name, setName);
        await tellPeers(set);
      });
    },
    async list() {
      const set = await findSet(setName);
      if (set === undefined) return [];
      return await Promise.all((await machineNames(set)).map(async (name) => await describe(set, name)));
    },
    async on(name) {
      await requireMachine(setName, name);
      await inSet(setName, async (set) => {
        await reviveMachine(hostOf(set), name);
        await start(set, name);
      });
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
      await requireMachine(setName, name);
      await inSet(setName, async (set) => {
        await wipeMachine(hostOf(set), name);
        await start(set, name);
      });
    },
    async remove(name) {
      await inSet(setName, async (set) => {
        await discardMachine(hostOf(set), name);
        if ((await machineNames(set)).length > 0) return await tellPeers(set);
        await stopBucket(set, log);
        await createMachines(set, log).removeAll();
        return "empty";
      });
    },
    async removeAll() {
      await inSet(setName, async (set) => {
        await stopBucket(set, log);
        await createMachines(set, log).removeAll();
        return "empty";
      });
    },
    async loadImages(name, images) {
      await mustExec(exec, name, ["systemctl", "start", "containerd"]);
      for (const { tar } of images) await mustExec(exec, name, importing, { stdin: createReadStream(tar) });
    },
  };
}

/** What makes namespaces and networks; the rest is in the machines. */
const hostPackages = ["iproute2", "iptables", "util-linux"] as const;

const importing = ["ctr", "--namespace", "k8s.io", "images", "import", "-"] as const;

/** What systemd takes as the order to power off (systemd(1), SIGRTMIN+4). */
const powerOffSignal = 34 + 4;

async function powerOff(pid1: ProcessIdentity, name: string, setName: string): Promise<void> {
  process.kill(pid1.pid, powerOffSignal);
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(50)) if (!(await isAlive(pid1))) return;
  throw new Error(
    `machine ${name} has not stopped its units within a minute: cut its power with '${commandLines.cutPower(name, setName)}'`,
  );
}

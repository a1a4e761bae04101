import { rmdir } from "node:fs/promises";
import { execa } from "execa";
import type { Logger } from "../../log.ts";
import type { Environment } from "../environment/environment.ts";
import type { Image } from "../image/build.ts";
import { createImageStore } from "../image/store.ts";
import { removeAddresses } from "../network/address.ts";
import { applyNetwork, type MachineNetwork } from "../network/cni.ts";
import { listNamespaces, runnerIn } from "../network/namespace.ts";
import { plugAddress, unplugAddress } from "../network/plug.ts";
import { readPid1 } from "./boot.ts";
import { removeCgroup, removeEmptyCgroup } from "./cgroup.ts";
import { importCommand, listCommand } from "./image.ts";
import {
  changeMachine,
  describeMachine,
  discardMachine,
  ensureMachine,
  reviveMachine,
  type Host,
} from "./lifecycle.ts";
import type { MachineSpec, MachineStatus } from "./machine.ts";
import * as records from "./record.ts";
import { readUnitLog } from "./unit-log.ts";

/** The machines of one environment, for as many processes at once as there are. */
export interface Machines {
  /** Makes the machine if there is none and boots it if it is not running; returns when PID 1 runs, which outlives the caller. */
  ensure(spec: MachineSpec): Promise<MachineStatus>;
  /** Boots a machine that went down again, as it was; nothing where it runs, or is gone. */
  revive(name: string): Promise<void>;
  /** The machines that have all these labels, by name. */
  list(labels?: Readonly<Record<string, string>>): Promise<MachineStatus[]>;
  /** The end of what the machine's kubelet has logged; nothing where it has not run. */
  kubeletLog(name: string): Promise<string>;
  /** Kills everything in the machine and removes all that was made for it; success when there is none. */
  remove(name: string): Promise<void>;
  /** Brings the machine's pod network in step, now and at every boot. */
  configureNetwork(name: string, network: MachineNetwork): Promise<void>;
  /** Makes the machine answer for a further address, now and at every boot. */
  addAddress(name: string, address: string): Promise<void>;
  /** Undoes `addAddress`; success when the machine is gone. */
  removeAddress(name: string, address: string): Promise<void>;
}

/** The machines of this host. */
export interface HostMachines extends Machines {
  /** Removes every machine, also what a crashed run left of one; success when there are none. */
  removeAll(): Promise<void>;
  /** Gives the machine's containerd a further image, now and at every boot; of two with one name, the later. */
  loadImage(name: string, image: Image): Promise<void>;
  /** The names of the images that the machine's containerd has; the machine runs. */
  imagesOf(name: string): Promise<readonly string[]>;
}

/** Machines that are namespaces of this host (docs/decisions/0002). Needs root. */
export function createMachines(env: Environment, log: Logger): HostMachines {
  const host: Host = { env, log, prepareStore: createImageStore(log) };
  return {
    ensure: (spec) => ensureMachine(host, spec),
    revive: (name) => reviveMachine(host, name),
    list: (labels = {}) => listMachines(env, labels),
    kubeletLog: (name) => readUnitLog(records.machinePaths(env, name).logDir, "kubelet"),
    remove: (name) => discardMachine(host, name),
    removeAll: () => discardAll(host),
    async loadImage(name, { name: image, tar }) {
      await changeMachine(
        env,
        name,
        (record) => ({ ...record, images: { ...record.images, [image]: tar } }),
        async (paths) => void (await runIn(paths, importCommand(tar))),
      );
    },
    async imagesOf(name) {
      return (await runIn(records.machinePaths(env, name), listCommand)).split("\n");
    },
    async configureNetwork(name, network) {
      await changeMachine(
        env,
        name,
        (record) => ({ ...record, network }),
        (paths) => applyNetwork(runnerIn(paths.netns), paths.cniDir, network),
      );
    },
    async addAddress(name, address) {
      await changeMachine(
        env,
        name,
        (record) => ({ ...record, addresses: [...new Set([...record.addresses, address])] }),
        (paths) => plugAddress(env, paths.netns, address),
      );
    },
    async removeAddress(name, address) {
      if ((await records.readRecord(records.machinePaths(env, name))) === undefined) return;
      await changeMachine(
        env,
        name,
        (record) => ({ ...record, addresses: record.addresses.filter((other) => other !== address) }),
        (paths) => unplugAddress(paths.netns, address),
      );
    },
  };
}

async function listMachines(env: Environment, labels: MachineSpec["labels"]): Promise<MachineStatus[]> {
  const names = await records.machineNames(env);
  const statuses = await Promise.all(
    names.map(async (name) => {
      const paths = records.machinePaths(env, name);
      const record = await records.readRecord(paths);
      return record === undefined ? [] : [await describeMachine(env, paths, record)];
    }),
  );
  return statuses
    .flat()
    .filter((status) => Object.entries(labels).every(([key, value]) => status.labels[key] === value));
}

/** A crashed run may have left a network namespace without a record, or a record without one. */
async function discardAll(host: Host): Promise<void> {
  const { env } = host;
  const prefix = `${env.name}.`;
  const stray = (await listNamespaces()).filter((netns) => netns.startsWith(prefix));
  const names = new Set([...(await records.machineNames(env)), ...stray.map((netns) => netns.slice(prefix.length))]);
  await Promise.all([...names].map((name) => discardMachine(host, name)));
  await removeCgroup(records.environmentCgroup(env));
  await removeEmptyCgroup("/perennial");
  await removeAddresses(env);
  await rmdir(records.machinesDirectory(env)).catch(() => undefined);
}

/** Runs a command in the file system of a machine that runs; answers with what it prints. */
async function runIn(paths: records.MachinePaths, command: readonly string[]): Promise<string> {
  const pid1 = await readPid1(paths);
  const { stdout } = await execa("nsenter", ["--target", String(pid1?.pid), "--mount", "--", ...command]);
  return stdout;
}

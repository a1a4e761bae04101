import { mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import type { Environment } from "../environment/environment.ts";
import { createImageStore } from "../image/store.ts";
import { withLock } from "../binary/lock.ts";
import { bootMachine, readPid1 } from "./boot.ts";
import { createCgroup, removeCgroup, removeEmptyCgroup } from "./cgroup.ts";
import { isAlive, killProcess } from "./process.ts";
import { raiseHostLimits } from "./limits.ts";
import * as records from "./record.ts";
import { machineLinks } from "./programs.ts";
import type { UserData } from "./user-data.ts";
import { allocateAddress, releaseAddress, removeAddresses } from "../network/address.ts";
import { ensureBridge } from "../network/bridge.ts";
import { applyNetwork, type MachineNetwork } from "../network/cni.ts";
import { plugAddress, unplugAddress } from "../network/plug.ts";
import { createNamespace, listNamespaces, removeNamespace } from "../network/namespace.ts";

/** What a machine is made from; `name` is its host name and unique in the environment. */
export interface MachineSpec {
  readonly name: string;
  readonly userData: UserData;
  readonly labels: Readonly<Record<string, string>>;
}

/** A machine as it is now. */
export interface MachineStatus {
  readonly name: string;
  readonly providerID: string;
  readonly address: string;
  readonly running: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
}

/** The machines of one environment, for as many processes at once as there are. */
export interface Machines {
  /** Makes the machine if there is none and boots it if it is not running; returns when PID 1 runs, which outlives the caller. */
  ensure(spec: MachineSpec): Promise<MachineStatus>;
  /** The machines that have all these labels, by name. */
  list(labels?: Readonly<Record<string, string>>): Promise<MachineStatus[]>;
  /** Kills everything in the machine and removes all that was made for it; success when there is none. */
  remove(name: string): Promise<void>;
  /** Removes every machine, also what a crashed run left of one; success when there are none. */
  removeAll(): Promise<void>;
  /** Brings the machine's pod network in step, now and at every boot. */
  configureNetwork(name: string, network: MachineNetwork): Promise<void>;
  /** Makes the machine answer for a further address, now and at every boot. */
  addAddress(name: string, address: string): Promise<void>;
  /** Undoes `addAddress`; success when the machine is gone. */
  removeAddress(name: string, address: string): Promise<void>;
}

/** Machines that are namespaces of this host (docs/decisions/0002). Needs root. */
export function createMachines(env: Environment, log: Logger): Machines {
  const prepareStore = createImageStore(log);
  const locked = async <T>(name: string, work: (paths: records.MachinePaths) => Promise<T>): Promise<T> => {
    const paths = records.machinePaths(env, name);
    return await withLock(paths.lock, async () => await work(paths));
  };
  const boot = async (paths: records.MachinePaths, record: records.MachineRecord): Promise<void> => {
    const { name, address, userData } = record;
    // What an earlier boot left running, or empty cgroups of its pods, would count as this one's.
    await removeCgroup(paths.cgroup);
    const cgroupFiles = await createCgroup(paths.cgroup);
    await createNamespace(env, paths.netns, address);
    for (const extra of record.addresses) await plugAddress(env, paths.netns, extra);
    if (record.network !== undefined) await applyNetwork(paths.netns, paths.cniDir, record.network);
    const store = await prepareStore();
    await Promise.all(
      ["var/lib/cni", "var/lib/containerd"].map((dir) =>
        rm(join(paths.dir, "root", dir), { recursive: true, force: true }),
      ),
    );
    await store.copyTo(join(paths.dir, "root/var/lib/containerd"));
    const facts = {
      name,
      address,
      gateway: env.gateway,
      providerID: records.providerID(env, name),
      cgroup: paths.cgroup,
    };
    const image = { links: await machineLinks(), sandboxImage: store.sandboxImage };
    await bootMachine(paths, cgroupFiles, { facts, image, userData, logDir: paths.logDir });
  };
  const discard = async (name: string): Promise<void> => {
    await locked(name, async (paths) => {
      const pid1 = await readPid1(paths);
      if (pid1 !== undefined) await killProcess(pid1);
      await removeCgroup(paths.cgroup);
      await removeNamespace(paths.netns);
      await releaseAddress(env, name);
      await rm(paths.dir, { recursive: true, force: true });
    });
    await rm(records.machinePaths(env, name).lock, { force: true });
    log.info({ machine: name }, "machine removed");
  };
  const change = async (
    name: string,
    edit: (record: records.MachineRecord) => records.MachineRecord,
    apply: (paths: records.MachinePaths) => Promise<void>,
  ): Promise<void> => {
    await locked(name, async (paths) => {
      const record = await records.readRecord(paths);
      if (record === undefined) throw new Error(`cannot change machine ${name}: there is none`);
      await records.writeRecord(paths, edit(record));
      if (await isRunning(paths)) await apply(paths);
    });
  };

  return {
    async ensure(spec) {
      return await locked(spec.name, async (paths) => {
        const known = await records.readRecord(paths);
        const record: records.MachineRecord = {
          ...(known ?? { createdAt: new Date().toISOString(), addresses: [] }),
          ...spec,
          address: await allocateAddress(env, spec.name),
        };
        if (known === undefined || JSON.stringify(known) !== JSON.stringify(record))
          await records.writeRecord(paths, record);
        if (!(await isRunning(paths))) {
          await raiseHostLimits();
          await ensureBridge(env);
          await mkdir(paths.cniDir, { recursive: true });
          await boot(paths, record);
          log.info(
            { machine: spec.name, address: record.address },
            known === undefined ? "machine started" : "machine booted again",
          );
        }
        return await describe(env, paths, record);
      });
    },
    async list(labels = {}) {
      const names = await records.machineNames(env);
      const statuses = await Promise.all(
        names.map(async (name) => {
          const paths = records.machinePaths(env, name);
          const record = await records.readRecord(paths);
          return record === undefined ? [] : [await describe(env, paths, record)];
        }),
      );
      return statuses
        .flat()
        .filter((status) => Object.entries(labels).every(([key, value]) => status.labels[key] === value));
    },
    remove: discard,
    async removeAll() {
      const prefix = `${env.name}.`;
      const stray = (await listNamespaces()).filter((netns) => netns.startsWith(prefix));
      const names = new Set([
        ...(await records.machineNames(env)),
        ...stray.map((netns) => netns.slice(prefix.length)),
      ]);
      await Promise.all([...names].map(discard));
      await removeCgroup(records.environmentCgroup(env));
      await removeEmptyCgroup("/perennial");
      await removeAddresses(env);
      await rmdir(records.machinesDirectory(env)).catch(() => undefined);
    },
    async configureNetwork(name, network) {
      await change(
        name,
        (record) => ({ ...record, network }),
        (paths) => applyNetwork(paths.netns, paths.cniDir, network),
      );
    },
    async addAddress(name, address) {
      await change(
        name,
        (record) => ({ ...record, addresses: [...new Set([...record.addresses, address])] }),
        (paths) => plugAddress(env, paths.netns, address),
      );
    },
    async removeAddress(name, address) {
      if ((await records.readRecord(records.machinePaths(env, name))) === undefined) return;
      await change(
        name,
        (record) => ({ ...record, addresses: record.addresses.filter((other) => other !== address) }),
        (paths) => unplugAddress(paths.netns, address),
      );
    },
  };
}

async function describe(
  env: Environment,
  paths: records.MachinePaths,
  record: records.MachineRecord,
): Promise<MachineStatus> {
  const { name, address, labels, createdAt } = record;
  return {
    name,
    providerID: records.providerID(env, name),
    address,
    running: await isRunning(paths),
    labels,
    createdAt,
  };
}

async function isRunning(paths: records.MachinePaths): Promise<boolean> {
  const pid1 = await readPid1(paths);
  return pid1 !== undefined && (await isAlive(pid1));
}

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { withLock } from "../binary/lock.ts";
import type { Environment } from "../environment/environment.ts";
import { ensureRootFilesystem } from "../image/root-filesystem.ts";
import type { createImageStore } from "../image/store.ts";
import { allocateAddress, releaseAddress } from "../network/address.ts";
import { ensureBridge } from "../network/bridge.ts";
import { applyNetwork } from "../network/cni.ts";
import { createNamespace, removeNamespace, runnerIn } from "../network/namespace.ts";
import { plugAddress } from "../network/plug.ts";
import { mirrorFiles } from "../registry/mirrors.ts";
import { findRegistry } from "../registry/registry.ts";
import { bootBare } from "./bare.ts";
import { bootMachine, readPid1 } from "./boot.ts";
import { createCgroup, removeCgroup, thawCgroup } from "./cgroup.ts";
import { raiseHostLimits } from "./limits.ts";
import type { MachineSpec, MachineStatus } from "./machine.ts";
import { isAlive, killProcess } from "./process.ts";
import { machineLinks } from "./programs.ts";
import * as records from "./record.ts";
import { bootSystem, userDataFiles } from "./system.ts";
import type { UserData } from "./user-data.ts";

/** The environment's host, and the store that each machine's containerd begins with. */
export interface Host {
  readonly env: Environment;
  readonly log: Logger;
  readonly prepareStore: ReturnType<typeof createImageStore>;
}

/** Writes the machine's record and boots it if it is not running; returns when its PID 1 runs. Holds the machine's lock. */
export async function ensureMachine(host: Host, spec: MachineSpec): Promise<MachineStatus> {
  const { env, log } = host;
  return await locked(env, spec.name, async (paths) => {
    const known = await records.readRecord(paths);
    const record: records.MachineRecord = {
      ...(known ?? newRecord(spec)),
      ...spec,
      address: await allocateAddress(env, spec.name),
    };
    if (known === undefined || JSON.stringify(known) !== JSON.stringify(record))
      await records.writeRecord(paths, record);
    if (!(await isRunning(paths))) {
      await boot(host, paths, record);
      const message = known === undefined ? "machine started" : "machine booted again";
      log.info({ machine: spec.name, address: record.address }, message);
    }
    return await describeMachine(env, paths, record);
  });
}

/** Boots the machine as its record says, if there is one and it is down. Holds the machine's lock. */
export async function reviveMachine(host: Host, name: string): Promise<void> {
  await locked(host.env, name, async (paths) => {
    const record = await records.readRecord(paths);
    if (record === undefined || (await isRunning(paths))) return;
    await boot(host, paths, record);
    host.log.info({ machine: name, address: record.address }, "machine booted again");
  });
}

/**
 * Cuts the machine's power: its peers hear nothing more of it, then all that runs in it is killed. Success when it is off.
 * Holds the machine's lock; throws when there is no machine.
 */
export async function cutPower({ env, log }: Host, name: string): Promise<void> {
  await locked(env, name, async (paths) => {
    await requireRecord(paths, name);
    await stop(paths);
  });
  log.info({ machine: name }, "machine is off");
}

/** Empties the disk of a bare machine, cut off as by `cutPower`, and boots it as a new one with the same address. */
export async function wipeMachine(host: Host, name: string): Promise<void> {
  await locked(host.env, name, async (paths) => {
    const record: records.MachineRecord = { ...(await requireRecord(paths, name)), disk: { blank: true } };
    await stop(paths);
    await records.writeRecord(paths, record);
    await boot(host, paths, record);
  });
  host.log.info({ machine: name }, "machine wiped");
}

/** Kills everything in the machine and removes all that was made for it; success when there is none. */
export async function discardMachine({ env, log }: Host, name: string): Promise<void> {
  await locked(env, name, async (paths) => {
    await stop(paths);
    await releaseAddress(env, name);
    await rm(paths.dir, { recursive: true, force: true });
  });
  await rm(records.machinePaths(env, name).lock, { force: true });
  log.info({ machine: name }, "machine removed");
}

/** Edits the machine's record, and applies the change if the machine is running. Throws when there is no machine. */
export async function changeMachine(
  env: Environment,
  name: string,
  edit: (record: records.MachineRecord) => records.MachineRecord,
  apply: (paths: records.MachinePaths) => Promise<void>,
): Promise<void> {
  await locked(env, name, async (paths) => {
    await records.writeRecord(paths, edit(await requireRecord(paths, name)));
    if (await isRunning(paths)) await apply(paths);
  });
}

/** The machine as its record and its processes show it. */
export async function describeMachine(
  env: Environment,
  paths: records.MachinePaths,
  { name, address, labels, createdAt }: records.MachineRecord,
): Promise<MachineStatus> {
  const running = await isRunning(paths);
  return { name, providerID: records.providerID(env, name), address, running, labels, createdAt };
}

/** The link goes first: what speaks to the machine is not told that its processes end. */
async function stop(paths: records.MachinePaths): Promise<void> {
  await removeNamespace(paths.netns);
  const pid1 = await readPid1(paths);
  // It ends after all else in the machine, of which runc may have frozen some.
  if (pid1 !== undefined) await killProcess(pid1, async () => await thawCgroup(paths.cgroup));
  await removeCgroup(paths.cgroup);
}

async function requireRecord(paths: records.MachinePaths, name: string): Promise<records.MachineRecord> {
  const record = await records.readRecord(paths);
  if (record === undefined) throw new Error(`cannot change machine ${name}: there is none`);
  return record;
}

function newRecord({ userData }: MachineSpec) {
  const disk = userData === undefined ? { disk: { blank: true } as const } : {};
  return { createdAt: new Date().toISOString(), addresses: [], ...disk };
}

async function boot(host: Host, paths: records.MachinePaths, record: records.MachineRecord): Promise<void> {
  const { env } = host;
  await raiseHostLimits();
  await ensureBridge(env);
  await mkdir(paths.cniDir, { recursive: true });
  // What an earlier boot left running, or empty cgroups of its pods, would count as this one's.
  await removeCgroup(paths.cgroup);
  const cgroupFiles = await createCgroup(paths.cgroup);
  await createNamespace(env, paths.netns, record.address);
  for (const extra of record.addresses) await plugAddress(env, paths.netns, extra);
  if (record.network !== undefined) await applyNetwork(runnerIn(paths.netns), paths.cniDir, record.network);
  const { userData } = record;
  if (userData === undefined) await bootBare(env.name, paths, cgroupFiles, record);
  else if (typeof userData === "string") await bootWithSystemd(host, paths, cgroupFiles, { ...record, userData });
  else await bootWithRunner(host, paths, cgroupFiles, { ...record, userData });
}

/** A machine with the local operating system, which begins with all images. */
async function bootWithRunner(
  { env, prepareStore }: Host,
  paths: records.MachinePaths,
  cgroupFiles: readonly string[],
  { name, address, userData, images = {} }: records.MachineRecord & { readonly userData: UserData },
): Promise<void> {
  const store = await prepareStore();
  const folders = ["var/lib/cni", "var/lib/containerd"].map((folder) => join(paths.dir, "root", folder));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  await store.copyTo(join(paths.dir, "root/var/lib/containerd"));
  const providerID = records.providerID(env, name);
  const facts = { name, address, gateway: env.gateway, providerID, cgroup: paths.cgroup };
  const registry = await findRegistry(env);
  const image = {
    links: await machineLinks(),
    files: registry === undefined ? {} : mirrorFiles(registry),
    sandboxImage: store.sandboxImage,
    imageTars: Object.values(images),
  };
  await bootMachine(paths, cgroupFiles, { facts, image, userData, logDir: paths.logDir });
}

/** A machine whose systemd runs the script that it is given; it begins with no image and pulls all. */
async function bootWithSystemd(
  { env }: Host,
  paths: records.MachinePaths,
  cgroupFiles: readonly string[],
  { name, address, userData }: records.MachineRecord & { readonly userData: string },
): Promise<void> {
  const image = await ensureRootFilesystem(cacheDirectory());
  const identity = { name, address, nameservers: [env.gateway] };
  const files = userDataFiles(identity, userData, await findRegistry(env));
  await bootSystem(paths, cgroupFiles, { name, image, files });
}

async function locked<T>(
  env: Environment,
  name: string,
  work: (paths: records.MachinePaths) => Promise<T>,
): Promise<T> {
  const paths = records.machinePaths(env, name);
  return await withLock(paths.lock, async () => await work(paths));
}

async function isRunning(paths: records.MachinePaths): Promise<boolean> {
  const pid1 = await readPid1(paths);
  return pid1 !== undefined && (await isAlive(pid1));
}

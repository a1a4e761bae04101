import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";
import type { MachineNetwork } from "../network/cni.ts";
import { replaceFile } from "../replace-file.ts";
import type { Init } from "./machine.ts";
import type { UserData } from "./user-data.ts";

/** What is kept about a machine, in <stateDir>/machines/<name>/machine.json, from before its start until it is removed. */
export interface MachineRecord {
  readonly name: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly userData?: UserData | string;
  /** What starts the units of a bare machine; a systemd where nothing is said. */
  readonly init?: Init;
  /** A bare machine's disk: the root file system that it lies over, and whether it is to be emptied before the next boot. */
  readonly disk?: { readonly blank: true } | { readonly image: string };
  /** What `configureNetwork` was last called with. */
  readonly network?: MachineNetwork;
  /** Further addresses, such as load balancers'. */
  readonly addresses: readonly string[];
  /** The tars of further images, by the images' names. */
  readonly images?: Readonly<Record<string, string>>;
}

/** Where one machine is found on the host. All names are made of the environment's and its own, with a separator that neither can contain. */
export interface MachinePaths {
  readonly dir: string;
  readonly record: string;
  /** Made anew by each boot: the identity of PID 1. */
  readonly pid: string;
  readonly cniDir: string;
  readonly logDir: string;
  readonly cgroup: string;
  readonly netns: string;
  readonly lock: string;
}

/** The paths and names of a machine; throws when the name is no DNS label. */
export function machinePaths(env: Environment, name: string): MachinePaths {
  requireName(name);
  const dir = join(machinesDirectory(env), name);
  return {
    dir,
    record: join(dir, "machine.json"),
    pid: join(dir, "pid"),
    cniDir: join(dir, "cni"),
    logDir: join(dir, "log"),
    cgroup: `${environmentCgroup(env)}/${name}`,
    netns: `${env.name}.${name}`,
    lock: join(env.stateDir, "locks", `machine-${name}`),
  };
}

/** Throws when the name is no DNS label. */
export function requireName(name: string): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    throw new Error(`cannot name a machine "${name}": not a DNS label of at most 63 characters`);
}

/** The directory of an environment's machines. */
export function machinesDirectory(env: Environment): string {
  return join(env.stateDir, "machines");
}

/** The cgroup, in every hierarchy, that holds an environment's machines. */
export function environmentCgroup(env: Environment): string {
  return `/perennial/${env.name}`;
}

/** The provider ID of the machine's Node. */
export function providerID(env: Environment, name: string): string {
  return `local:///${env.name}/${name}`;
}

/** The names of all machines that have a directory, also of those whose start was cut off. */
export async function machineNames(env: Environment): Promise<string[]> {
  return (await readdir(machinesDirectory(env)).catch(() => [])).sort();
}

/** The record, or undefined when there is no such machine. */
export async function readRecord(paths: MachinePaths): Promise<MachineRecord | undefined> {
  try {
    return JSON.parse(await readFile(paths.record, "utf8")) as MachineRecord;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`cannot read the machine record ${paths.record}`, { cause: error });
  }
}

/** Replaces the record in one step. The user data in it may hold tokens: only root reads it. */
export async function writeRecord(paths: MachinePaths, record: MachineRecord): Promise<void> {
  await mkdir(paths.dir, { recursive: true, mode: 0o700 });
  await replaceFile(paths.record, JSON.stringify(record, undefined, 2));
}

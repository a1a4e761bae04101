import { commandLines } from "../../api/command-lines.ts";
import type { Environment } from "../environment/environment.ts";
import { readPid1 } from "../machine/boot.ts";
import type { Init } from "../machine/machine.ts";
import { isAlive, type ProcessIdentity } from "../machine/process.ts";
import { machineNames, machinePaths, readRecord } from "../machine/record.ts";
import type { Peer } from "./peers.ts";
import { findSet } from "./set.ts";

/** A bare machine as it is now. */
export interface BareMachine {
  readonly name: string;
  /** One whose making was cut off is unfinished: creating it goes on, removing it takes it away. */
  readonly state: "On" | "Off" | "Unfinished";
  /** What starts its units; undefined for one that is not made yet. */
  readonly init?: Init;
  /** In the set's network; its own until it is removed. */
  readonly address?: string;
  readonly createdAt?: string;
  /** Where the host finds its file system while it is on. */
  readonly root?: string;
}

/** The machine as its record and its processes show it. */
export async function describe(set: Environment, name: string): Promise<BareMachine> {
  const record = await readRecord(machinePaths(set, name));
  const pid1 = await findPid1(set, name);
  if (record === undefined) return { name, state: "Unfinished" };
  const { address, createdAt, disk, init = "systemd" } = record;
  if (pid1 !== undefined) return { name, state: "On", init, address, createdAt, root: `/proc/${pid1.pid}/root` };
  const state = disk !== undefined && "blank" in disk ? "Unfinished" : "Off";
  return { name, state, init, address, createdAt };
}

/** All machines of the set that have an address. */
export async function peersOf(set: Environment): Promise<Peer[]> {
  const records = await Promise.all((await machineNames(set)).map((name) => readRecord(machinePaths(set, name))));
  return records.flatMap((record) => (record === undefined ? [] : [record]));
}

/** The set, if it has this machine; throws how to make it where there is none. */
export async function requireMachine(setName: string, name: string): Promise<Environment> {
  const set = await findSet(setName);
  const record = set && (await readRecord(machinePaths(set, name)));
  if (set === undefined || record === undefined)
    throw new Error(`there is no machine ${name}: make it with '${commandLines.createMachine(name, setName)}'`);
  return set;
}

/** The PID 1 of a machine that is on. */
export async function findPid1(set: Environment, name: string): Promise<ProcessIdentity | undefined> {
  const pid1 = await readPid1(machinePaths(set, name));
  return pid1 !== undefined && (await isAlive(pid1)) ? pid1 : undefined;
}

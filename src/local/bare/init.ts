import { cacheDirectory } from "../binary/binaries.ts";
import { ensurePackages } from "../binary/packages.ts";
import { ensureRootFilesystem } from "../image/root-filesystem.ts";
import type { Init } from "../machine/machine.ts";
import { machinePaths, readRecord } from "../machine/record.ts";
import { bootsSystemd } from "./probe.ts";
import { findSet } from "./set.ts";

/** What a machine is to begin with, and where it is told why that is so. */
interface InitChoice {
  readonly asked: Init | undefined;
  readonly tell: (message: string) => void;
}

/**
 * The init system of the machine of this name: what it has, or what is asked for, and has what that takes ready. Throws where it
 * has another.
 */
export async function initFor(setName: string, name: string, { asked, tell }: InitChoice): Promise<Init> {
  const known = await initOf(setName, name);
  if (known !== undefined && asked !== undefined && known !== asked)
    throw new Error(`machine ${name} has a ${known} already: remove it, or use another name`);
  const init = known ?? asked ?? (await initOfHost(tell));
  if (init === "runner") await ensurePackages({ names: runnerPackages, onProgress: tell });
  else await ensureRootFilesystem(cacheDirectory(), tell);
  return init;
}

/** A systemd, unless this host cannot get one or cannot boot it. */
async function initOfHost(tell: InitChoice["tell"]): Promise<Init> {
  try {
    if (await bootsSystemd(await ensureRootFilesystem(cacheDirectory(), tell))) return "systemd";
    tell("this host cannot boot a systemd in namespaces: a runner starts the units of its machines");
  } catch (error) {
    tell(`${error instanceof Error ? error.message : String(error)}: a runner starts the units of machines here`);
  }
  return "runner";
}

async function initOf(setName: string, name: string): Promise<Init | undefined> {
  const set = await findSet(setName);
  const record = set && (await readRecord(machinePaths(set, name)));
  return record && (record.init ?? "systemd");
}

/** What a machine without packages of its own takes from the host, beside what makes namespaces. */
const runnerPackages = [
  "containerd",
  "runc",
  "containernetworking-plugins",
  "conntrack",
  "ethtool",
  "socat",
  "logrotate",
] as const;

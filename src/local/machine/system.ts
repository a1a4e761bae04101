import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mirrorFiles } from "../registry/mirrors.ts";
import type { Registry } from "../registry/registry.ts";
import { startPid1 } from "./boot.ts";
import type { ProcessIdentity } from "./process.ts";
import type { MachinePaths } from "./record.ts";
import { systemInit, systemScript } from "./system-script.ts";

/** A machine with a systemd of its own. */
export interface SystemInstructions {
  readonly name: string;
  /** The root file system that it lays its own over. */
  readonly image: string;
  /** What is written into its own before it boots. */
  readonly files: readonly SystemFile[];
}

/** A file of a machine; `rw-r--r--` without a mode. */
export interface SystemFile {
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
}

/** What a machine is known by, and whom it asks for names. */
export interface SystemIdentity {
  readonly name: string;
  readonly address: string;
  readonly nameservers: readonly string[];
}

/** Directories that are no overlay: their programs mount overlays in them, or the host reads them. */
export const volumes = ["/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods", "/var/log/journal"];

/**
 * Boots a real systemd as PID 1, which outlives this process, in the network namespace and the cgroups made before. What it
 * changed at earlier boots is there. `journalctl --directory <machine>/volumes/var/log/journal` reads its journal.
 */
export async function bootSystem(
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  instructions: SystemInstructions,
): Promise<ProcessIdentity> {
  const { name, image, files } = instructions;
  await writeSystemFiles(paths, files);
  const env = { IMAGE: image, VOLUMES: volumes.join(" ") };
  return await startPid1(paths, cgroupFiles, { name, script: systemScript(systemInit), env });
}

/** Writes files into the file system of a machine that does not run. */
export async function writeSystemFiles({ dir }: MachinePaths, files: readonly SystemFile[]): Promise<void> {
  for (const { path, text, mode = 0o644 } of files) {
    const file = join(dir, "system/upper", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, mode);
  }
}

/** Empties the disk of a machine that does not run. */
export async function emptyDisk({ dir, cniDir }: MachinePaths): Promise<void> {
  for (const folder of [join(dir, "system"), join(dir, "volumes"), cniDir])
    await rm(folder, { recursive: true, force: true });
  await mkdir(cniDir, { recursive: true });
}

/** The files of a machine that runs user data: where its containerd looks first, and a script that runs at each boot. */
export function userDataFiles(
  identity: SystemIdentity,
  userData: string,
  registry: Registry | undefined,
): readonly SystemFile[] {
  const mirrors = registry === undefined ? [] : Object.entries(mirrorFiles(registry));
  return [
    ...identityFiles(identity),
    ...mirrors.map(([path, text]) => ({ path, text })),
    // Gardener's machines, too, have it mounted there (pkg/provider-local/machine-provider).
    { path: "/etc/machine/userdata", text: userData, mode: 0o700 },
  ];
}

/** The files that say who a machine is, and whom it asks. */
export function identityFiles({ name, address, nameservers }: SystemIdentity): readonly SystemFile[] {
  return [
    { path: "/etc/hostname", text: `${name}\n` },
    { path: "/etc/hosts", text: `127.0.0.1 localhost\n${address} ${name}\n` },
    { path: "/etc/resolv.conf", text: nameservers.map((nameserver) => `nameserver ${nameserver}\n`).join("") },
  ];
}

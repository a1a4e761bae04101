import { access, readFile, rm, writeFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { execa } from "execa";
import { packages, type PackageName } from "./debian-packages.ts";
import { findProgram } from "./path.ts";

/** How packages are got; `onProgress` is told what is being installed. */
export interface PackageOptions {
  /** Which packages; all that the local environment needs unless told otherwise. */
  readonly names?: readonly PackageName[];
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Installs the Debian packages whose programs are missing; does nothing when all are there, however they were installed.
 * Throws one sentence with the command to run where that cannot be done.
 */
export async function ensurePackages({ names = all, onProgress, signal }: PackageOptions = {}): Promise<void> {
  await removePolicy();
  const missing = await missingPackages(names);
  if (missing.length === 0) return;
  const command = `apt-get install --no-install-recommends ${missing.join(" ")}`;
  if (process.getuid?.() !== 0)
    throw new Error(`cannot install ${missing.join(", ")} without root: run \`sudo ${command}\``);
  const apt = await findProgram("apt-get");
  if (apt === undefined) {
    throw new Error(
      `cannot install ${missing.join(", ")} on this Linux: install what Debian calls so (\`${command}\`)`,
    );
  }
  const cancel = signal === undefined ? {} : { cancelSignal: signal };
  const install = async () =>
    await execa(apt, ["install", "--yes", "--no-install-recommends", ...lockTimeout, ...missing], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
      stdin: "ignore",
      ...cancel,
    });
  onProgress?.(`installing ${missing.join(", ")}`);
  try {
    await withoutServices(async () => {
      await install().catch(async () => {
        signal?.throwIfAborted();
        onProgress?.("refreshing the package lists");
        await execa(apt, ["update"], { stdin: "ignore", ...cancel });
        await install();
      });
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`cannot install ${missing.join(", ")}: \`${command}\` fails; run it by hand to see why`, {
      cause: error,
    });
  }
  const left = await missingPackages(names);
  if (left.length > 0)
    throw new Error(`cannot find the programs of ${left.join(", ")} although \`${command}\` succeeded`);
}

/** The names of the packages of which a program is missing. */
export async function missingPackages(names: readonly PackageName[] = all): Promise<PackageName[]> {
  const missing: PackageName[] = [];
  for (const name of names) {
    const found = await Promise.all(packages[name].map(async (probe) => await exists(probe)));
    if (found.includes(false)) missing.push(name);
  }
  return missing;
}

async function exists(probe: string): Promise<boolean> {
  if (!isAbsolute(probe)) return (await findProgram(probe)) !== undefined;
  return await access(probe).then(
    () => true,
    () => false,
  );
}

const ofFewMachines: readonly PackageName[] = ["mmdebstrap", "logrotate"];
const all = (Object.keys(packages) as PackageName[]).filter((name) => !ofFewMachines.includes(name));

const lockTimeout = ["-o", "DPkg::Lock::Timeout=300"];

const policyFile = "/usr/sbin/policy-rc.d";
const policy = "#!/bin/sh\n# Perennial installs packages just now.\nexit 101\n";

/** Keeps Debian from starting the named and containerd it installs: ours are started where and as they are needed. */
async function withoutServices(action: () => Promise<void>): Promise<void> {
  await writeFile(policyFile, policy, { mode: 0o755, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error; // The host has a policy of its own.
  });
  try {
    await action();
  } finally {
    await removePolicy();
  }
}

/** Also what a killed run left: as long as it is there, no package that is installed starts its services. */
async function removePolicy(): Promise<void> {
  if ((await readFile(policyFile, "utf8").catch(() => "")) === policy) await rm(policyFile, { force: true });
}

import { readdir, readFile, realpath, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import type { Environment } from "./environment.ts";
import { forgetPorts } from "../process/taken-ports.ts";

/** The lock of what makes an environment or takes it away; it lies beside its folder, which goes with it. */
export function lockFile({ stateDir }: Pick<Environment, "stateDir">): string {
  return `${stateDir}.lock`;
}

/**
 * Removes all files of an environment in which nothing runs. The file that says what it is goes last: what is killed meanwhile
 * can be run again.
 */
export async function removeStateFolder({ stateDir }: Environment): Promise<void> {
  await unmountBelow(stateDir);
  const entries = (await readdir(stateDir)).filter((entry) => entry !== "environment.json");
  await Promise.all(entries.map((entry) => rm(join(stateDir, entry), { recursive: true, force: true })));
  await rm(stateDir, { recursive: true, force: true });
  await rm(lockFile({ stateDir }), { force: true });
  await forgetPorts(stateDir);
  // The folder of all environments, when this was the last one.
  if (dirname(stateDir) === "/var/lib/perennial") await rmdir(dirname(stateDir)).catch(() => undefined);
}

/** Nothing may be mounted below a folder that is removed: the mount's content is not the environment's. The kernel names mounts without links. */
async function unmountBelow(stateDir: string): Promise<void> {
  const folder = await realpath(stateDir);
  const mounts = async () =>
    (await readFile("/proc/self/mounts", "utf8").catch(() => ""))
      .split("\n")
      .map((line) => (line.split(" ")[1] ?? "").replace(/\\040/g, " "))
      .filter((path) => path === folder || path.startsWith(`${folder}/`));
  for (const path of (await mounts()).reverse()) await execa("umount", ["--lazy", path], { reject: false });
  const [left] = await mounts();
  if (left !== undefined) throw new Error(`cannot remove ${folder}: ${left} is still mounted`);
}

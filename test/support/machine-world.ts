import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { applyMachine, type Applied, type AppliedMachine } from "../../src/node-agent/apply-machine.ts";
import { createCtr, createSystemctl } from "../../src/node-agent/commands.ts";
import type { MachineConfig } from "../../src/node-agent/wanted.ts";

/** The machine in `<dir>/root`, with the `systemctl` and the `ctr` beside it. */
export function machineIn(dir: string, more: Partial<AppliedMachine> = {}): AppliedMachine {
  return {
    hostName: "m",
    root: join(dir, "root"),
    systemctl: createSystemctl(join(dir, "systemctl")),
    ctr: createCtr({ program: join(dir, "ctr") }),
    readSecret: async () => Buffer.from("from a Secret"),
    ...more,
  };
}

/** Applies the configuration in this process. */
export async function applied(dir: string, config: MachineConfig): Promise<Applied> {
  return await applyMachine(machineIn(dir), config);
}

/**
 * Applies the configuration in a process of its own that is killed with all its children: before the nth thing that it does,
 * or after these milliseconds of work. Gives whether that was before it had ended.
 */
export async function killed(
  dir: string,
  config: MachineConfig,
  moment: { readonly step: number } | { readonly milliseconds: number },
): Promise<boolean> {
  const file = join(dir, "config.json");
  await writeFile(file, JSON.stringify(config));
  const main = fileURLToPath(new URL("apply-machine-main.ts", import.meta.url));
  const args = [main, dir, file, "step" in moment ? String(moment.step) : "0"];
  const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  await Promise.race([once(child.stdout, "data"), ended]);
  if ("milliseconds" in moment) await Promise.race([delay(moment.milliseconds), ended]);
  if ("milliseconds" in moment) killGroup(child.pid);
  const [, signal] = await ended;
  killGroup(child.pid);
  return signal === "SIGKILL";
}

/** Path, mode and content of each file below the folder, hidden drafts too; folders end in a slash. */
export async function filesIn(folder: string, path = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(join(folder, path))).sort()) {
    const file = `${path}/${name}`;
    const { mode } = await lstat(join(folder, file));
    if ((mode & 0o170000) === 0o040000) Object.assign(found, { [`${file}/`]: "" }, await filesIn(folder, file));
    else found[file] = `${(mode & 0o7777).toString(8)} ${await readFile(join(folder, file), "utf8")}`;
  }
  return found;
}

/** A `systemctl` outlives the process that has called it. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

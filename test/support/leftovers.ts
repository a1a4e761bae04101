import { appendFile, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How the temporary directories of control planes begin. */
export const controlPlanePrefix = "perennial-control-plane-";

/** Notes that this process uses the directory. */
export async function claimDirectory(directory: string): Promise<void> {
  await writeFile(join(directory, "owner"), await identify(process.pid));
}

/** Notes a process that works in the directory. */
export async function recordChild(directory: string, pid: number): Promise<void> {
  await appendFile(join(directory, "children"), `${await identify(pid)}\n`);
}

/** Removes the directories of owners that died, and ends what still works in them. */
export async function sweepLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(controlPlanePrefix)) continue;
    const directory = join(tmpdir(), name);
    const owner = await readFile(join(directory, "owner"), "utf8").catch(() => undefined);
    // No owner yet: somebody is making the directory right now.
    if (owner === undefined || (await lives(owner))) continue;
    const children = await readFile(join(directory, "children"), "utf8").catch(() => "");
    await Promise.all(children.split("\n").map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

/** A pid with its start time: pids come back, the pair does not. */
async function identify(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The command in parentheses may hold anything; state is field 3 and start time field 22.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? "" : `${pid} ${fields[19] ?? ""}`;
}

async function end(identity: string): Promise<void> {
  if (identity === "" || !(await lives(identity))) return;
  try {
    process.kill(pidOf(identity), "SIGKILL");
  } catch (error) {
    // It ended between the look and the kill.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

async function lives(identity: string): Promise<boolean> {
  return (await identify(pidOf(identity))) === identity;
}

function pidOf(identity: string): number {
  return Number(identity.split(" ")[0]);
}

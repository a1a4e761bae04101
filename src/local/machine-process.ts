import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since the host booted. */
  readonly startTime: string;
}

/** The process that has this number now, or undefined when there is none (a zombie is none). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTime] = [fields[0], fields[19]];
  if (state === "Z" || state === "X" || startTime === undefined) return undefined;
  return { pid, startTime };
}

/** True while exactly this process lives. */
export function isAlive(process: ProcessIdentity): boolean {
  return identifyProcess(process.pid)?.startTime === process.startTime;
}

/** Kills exactly this process and returns once it is gone; throws after ten seconds. */
export async function killProcess(target: ProcessIdentity): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (!isAlive(target)) return;
    process.kill(target.pid, "SIGKILL");
    await sleep(50);
  }
  throw new Error(`cannot kill process ${target.pid}: it is still there after ten seconds`);
}

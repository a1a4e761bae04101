import { setTimeout as sleep } from "node:timers/promises";
import { describeProcess } from "../process/table.ts";

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since the host booted. */
  readonly startTime: string;
}

/** True while exactly this process lives. */
export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await describeProcess(pid))?.startTime === startTime;
}

/** Kills exactly this process and returns once it is gone, where `free` lets go what it waits for; throws after ten seconds. */
export async function killProcess(target: ProcessIdentity, free = async (): Promise<void> => {}): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(20)) {
    if (!(await isAlive(target))) return;
    kill(target.pid);
    await free();
  }
  throw new Error(`cannot kill process ${target.pid}: it is still there after ten seconds`);
}

/** It may end by itself between the look and the kill; then there is nothing left to do. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

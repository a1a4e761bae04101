import { spawn } from "node:child_process";
import type { FileHandle } from "node:fs/promises";

/**
 * Locks an open file by flock(1), whose own end does not end it: the lock is of what was opened (flock(2)), and goes when that is
 * closed. Answers whether it is ours now: another one has it, or, where it is to be shared, has it alone. Works on every file system.
 */
export async function flock({ fd }: FileHandle, sort: "exclusive" | "shared"): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const child = spawn("flock", ["-n", sort === "shared" ? "-s" : "-x", "3"], {
      stdio: ["ignore", "ignore", "ignore", fd],
    });
    child.once("error", (cause) => {
      reject(new Error("cannot run flock, by which programs are kept apart: install util-linux", { cause }));
    });
    child.once("exit", (code, signal) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else reject(new Error(`flock has failed (${code === null ? signal : `exit code ${code}`})`));
    });
  });
}

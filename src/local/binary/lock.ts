import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** `onWait` is called once when another process holds the lock. */
export interface LockOptions {
  readonly onWait?: () => void;
}

/**
 * Runs `action` while no other process of this machine holds the lock `file`. The kernel holds the lock on behalf of a
 * `flock` child that lives as long as our end of its pipe, so that a holder that is killed lets go of it at once.
 */
export async function withLock<T>(file: string, action: () => Promise<T>, { onWait }: LockOptions = {}): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const release = await acquire(file, onWait);
  try {
    return await action();
  } finally {
    await release();
  }
}

async function acquire(file: string, onWait: (() => void) | undefined): Promise<() => Promise<void>> {
  const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo; exec cat >/dev/null"], {
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  const exited = new Promise<void>((resolve) => holder.once("exit", () => resolve()));
  const outcome = new Promise<"held" | "missing" | "failed">((resolve) => {
    holder.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ENOENT" ? "missing" : "failed"));
    holder.once("exit", () => resolve("failed"));
    holder.stdout.once("data", () => resolve("held"));
  });
  const early = await Promise.race([outcome, delay(300)]);
  if (early === undefined) onWait?.();
  const result = await outcome;
  // No flock, as on macOS: writes are atomic anyway, the lock only saves work.
  if (result === "missing") return async () => {};
  if (result === "failed") throw new Error(`cannot lock ${file}: flock ended`);
  return async () => {
    holder.stdin.end();
    await exited;
  };
}

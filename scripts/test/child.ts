import type { ChildProcess } from "node:child_process";

/** Waits for a child process to exit and returns its exit code. Forwards SIGINT and SIGTERM to it, so that it can clean up. */
export async function untilEnd(child: ChildProcess): Promise<number> {
  const pass = (signal: NodeJS.Signals): void => {
    stopped = signal;
    child.kill(signal);
  };
  process.on("SIGINT", pass).on("SIGTERM", pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject).once("close", (code) => resolve(code ?? 1));
    });
  } finally {
    process.off("SIGINT", pass).off("SIGTERM", pass);
  }
}

let stopped: NodeJS.Signals | undefined;

/** Returns the signal received while waiting for a child; no other child must start after it. */
export const stoppedBy = (): NodeJS.Signals | undefined => stopped;

import type { ChildProcess } from "node:child_process";

/** Waits for the end of a child and returns its exit code. A signal to us goes on to it, so that it cleans up. */
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

/** The signal that has come while we waited for a child, after which no other is to begin. */
export const stoppedBy = (): NodeJS.Signals | undefined => stopped;

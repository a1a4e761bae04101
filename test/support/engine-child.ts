import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A process of our own test code, which dies with the test. */
export interface EngineChild {
  readonly process: ChildProcess;
  /** Resolves with all that it wrote to its standard output when it has ended. */
  readonly ended: Promise<string>;
  /** Resolves when it has written its first line. */
  readonly begun: Promise<void>;
  kill(): Promise<void>;
}

/** Runs a file of this folder with these arguments. */
export function startEngineChild(file: string, ...args: readonly string[]): EngineChild {
  const command = ["--pdeathsig", "KILL", process.execPath, join(import.meta.dirname, file), ...args];
  const child = spawn("setpriv", command, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const first = Promise.withResolvers<void>();
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes("\n")) first.resolve();
  });
  const ended = once(child, "close").then(() => output);
  return {
    process: child,
    ended,
    begun: first.promise,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

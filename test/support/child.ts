import { spawn } from "node:child_process";
import { findBinary } from "./binary.ts";
import { recordChild } from "./leftovers.ts";
import type { BinaryName } from "../../src/local/binary/versions.ts";

/** A process of a test; the kernel kills it when the test process dies, however it dies. */
export interface Child {
  readonly pid: number | undefined;
  alive(): boolean;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** The last 64 kB that it wrote to its standard output and error. */
  output(): string;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

/** Starts a pinned binary and notes its pid in `directory`. `through` is a command that becomes the binary, by exec. */
export async function spawnChild(
  directory: string,
  name: BinaryName,
  args: readonly string[],
  through: readonly string[] = [],
): Promise<Child> {
  const command = ["--pdeathsig", "KILL", ...through, await findBinary(name), ...args];
  const child = spawn("setpriv", command, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-65_536));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  if (child.pid !== undefined) await recordChild(directory, child.pid);
  return {
    pid: child.pid,
    alive: () => child.exitCode === null && child.signalCode === null,
    exited,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

import { spawn } from "node:child_process";
import { join } from "node:path";

/** A script of `test/support` in a process that has little memory; it dies with the test. */
export interface SmallProcess {
  /** The last 8 kB that it printed. */
  output(): string;
  isRunning(): boolean;
  end(): void;
}

/** Starts the script with this environment, and so many MB for its objects. */
export function startSmallProcess(
  script: string,
  env: Readonly<Record<string, string>>,
  megabytes: number,
): SmallProcess {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, join(import.meta.dirname, script)], {
    env: { PATH, HOME, NODE_OPTIONS: `--max-semi-space-size=1 --max-old-space-size=${megabytes}`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-8_192));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return {
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end: () => void child.kill("SIGKILL"),
  };
}

import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "./free-ports.ts";

/** One of our own processes as a child of a test, which can be killed and started again; it dies with the test. */
export interface OwnProcess {
  /** Starts it and returns when it says that it is ready. */
  start(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Kills it if it runs, and starts it. */
  restart(): Promise<void>;
  /** The last 256 kB that it printed, over all its lives. */
  output(): string;
  /** Most memory, in bytes, that its present life has had in use at once; 0 when it does not run. */
  peakMemory(): Promise<number>;
}

/** What to run: `src/<folder>/main.ts` with these arguments and this environment, and nothing else of the surroundings. */
export interface OwnProcessOptions {
  readonly folder: "manager" | "worker" | "fence" | "cluster-api";
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Describes the process; nothing runs before `start`. */
export function createOwnProcess({ folder, args = [], env }: OwnProcessOptions): OwnProcess {
  const entry = join(import.meta.dirname, "../../src", folder, "main.ts");
  let child: ChildProcess | undefined;
  let ended = Promise.resolve();
  let output = "";

  const run = (port: number) => {
    const command = ["--pdeathsig", "KILL", process.execPath, entry, ...args];
    const { PATH = "", HOME = "" } = process.env;
    const started = spawn("setpriv", command, {
      env: { PATH, HOME, ...env, PERENNIAL_HEALTH_PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const keep = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-262_144));
    started.stdout.on("data", keep);
    started.stderr.on("data", keep);
    ended = new Promise((resolve) => void started.once("close", () => resolve()));
    return started;
  };

  const start = async () => {
    const [port = 0] = await freePorts(1);
    const started = run(port);
    child = started;
    for (const deadline = Date.now() + 60_000; !(await saysReady(port));) {
      if (started.exitCode !== null || started.signalCode !== null || Date.now() > deadline)
        throw new Error(`${folder} ${args.join(" ")} is not ready:\n${output.slice(-3000)}`);
      await sleep(50);
    }
  };
  const kill = async () => {
    child?.kill("SIGKILL");
    await ended;
  };
  return {
    ...{ start, kill, output: () => output },
    peakMemory: () => readPeakMemory(child?.pid),
    async restart() {
      await kill();
      await start();
    },
  };
}

async function readPeakMemory(pid: number | undefined): Promise<number> {
  const status = pid === undefined ? "" : await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const [, kilobytes = "0"] = /^VmHWM:\s*(\d+) kB$/m.exec(status) ?? [];
  return Number(kilobytes) * 1024;
}

async function saysReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  return answer?.ok ?? false;
}

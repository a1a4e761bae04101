import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "./free-ports.ts";
import { seconds } from "./patience.ts";

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
  /** Kills it for good, and what stands ready for its next start. */
  close(): Promise<void>;
}

/** What to run: `src/<folder>/main.ts` with these arguments and this environment, and nothing else of the surroundings. */
export interface OwnProcessOptions {
  readonly folder: "manager" | "worker" | "fence" | "cluster-api";
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A script to run in its place, which begins it when its standard input ends: while one life runs, the next stands ready. */
  readonly readyMade?: string;
}

/** Describes the process; nothing runs before `start`. */
export function createOwnProcess({ folder, args = [], env, readyMade }: OwnProcessOptions): OwnProcess {
  const entry = readyMade ?? join(import.meta.dirname, "../../src", folder, "main.ts");
  let child: ChildProcess | undefined;
  let next: Promise<Life> | undefined;
  let output = "";

  const run = async (): Promise<Life> => {
    const [port = 0] = await freePorts(1);
    const command = ["--pdeathsig", "KILL", process.execPath, entry, ...args];
    const { PATH = "", HOME = "" } = process.env;
    const started = spawn("setpriv", command, {
      env: { PATH, HOME, ...env, PERENNIAL_HEALTH_PORT: String(port) },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const keep = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-262_144));
    started.stdout.on("data", keep);
    started.stderr.on("data", keep);
    return { started, port };
  };

  const start = async () => {
    const { started, port } = await (next ?? run());
    next = undefined;
    child = started;
    started.stdin.on("error", () => {}).end();
    for (const deadline = Date.now() + seconds(60); !(await saysReady(port));) {
      if (started.exitCode !== null || started.signalCode !== null || Date.now() > deadline)
        throw new Error(`${folder} ${args.join(" ")} is not ready:\n${output.slice(-3000)}`);
      await sleep(50);
    }
    if (readyMade !== undefined) next = run();
  };
  const kill = async () => await end(child);
  return {
    ...{ start, kill, output: () => output },
    peakMemory: () => readPeakMemory(child?.pid),
    async restart() {
      await kill();
      await start();
    },
    close: async () => void (await Promise.all([kill(), next?.then(({ started }) => end(started))])),
  };
}

/** A process, and the port at which it tells its health. */
interface Life {
  readonly started: ChildProcessWithoutNullStreams;
  readonly port: number;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
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

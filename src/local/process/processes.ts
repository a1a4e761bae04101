import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import type { Environment } from "../environment/environment.ts";
import { findPid, launch, waitUntilReady, type Launch } from "./launch.ts";
import { describeProcess } from "./table.ts";

/** A process that outlives its starter. */
export interface ProcessSpec extends Launch {
  /** Whatever else the process depends on, such as its code: the process is restarted when it changes. */
  readonly version?: string;
  /** How long it may take to end after SIGTERM, in milliseconds, before SIGKILL. */
  readonly grace?: number;
}

/** What is known of a process that was started. */
export interface ProcessStatus {
  readonly name: string;
  /** It is there; whether it acts, `stopped` says. */
  readonly running: boolean;
  /** A signal has stopped it: it does nothing, and keeps its ports and leases from others. */
  readonly stopped?: boolean;
  readonly pid?: number;
  readonly rssBytes?: number;
  readonly startedAt: string;
  readonly log: string;
}

/** The processes of one environment. */
export interface Processes {
  /** Starts the process and waits until it is ready. One that runs already, unchanged, is left alone; a changed one is restarted. */
  start(spec: ProcessSpec): Promise<"started" | "running">;
  /** Ends the process, with SIGTERM and later SIGKILL to exactly its pid, and returns when it is gone. */
  stop(name: string): Promise<void>;
  list(): Promise<ProcessStatus[]>;
}

interface Entry {
  readonly fingerprint: string;
  readonly startedAt: string;
  readonly grace: number;
}

/** Keeps the environment's processes: detached, with a pid file each in `processes/` and a log each in `logs/`. */
export function createProcesses(environment: Pick<Environment, "stateDir">, log: Logger): Processes {
  const folder = join(environment.stateDir, "processes");
  const logFile = (name: string) => join(environment.stateDir, "logs", `${name}.log`);
  const pidFile = (name: string) => join(folder, `${name}.pid`);

  const start = async (spec: ProcessSpec): Promise<"started" | "running"> => {
    const fingerprint = fingerprintOf(spec);
    const entry = await readEntry(folder, spec.name);
    if (entry?.fingerprint === fingerprint && (await findPid(pidFile(spec.name))) !== undefined) {
      await waitUntilReady(spec, pidFile(spec.name), logFile(spec.name));
      return "running";
    }
    await stop(spec.name);
    await mkdir(folder, { recursive: true });
    await mkdir(join(environment.stateDir, "logs"), { recursive: true });
    const { grace = 5_000 } = spec;
    await writeEntry(folder, spec.name, { fingerprint, startedAt: new Date().toISOString(), grace });
    await launch(spec, pidFile(spec.name), logFile(spec.name));
    await waitUntilReady(spec, pidFile(spec.name), logFile(spec.name));
    log.info({ process: spec.name }, "process started");
    return "started";
  };

  const stop = async (name: string): Promise<void> => {
    const pid = await findPid(pidFile(name));
    if (pid !== undefined) {
      const grace = (await readEntry(folder, name))?.grace ?? 5_000;
      await end(pid, pidFile(name), grace);
      log.info({ process: name, pid }, "process ended");
    }
    await rm(pidFile(name), { force: true });
    await rm(join(folder, `${name}.json`), { force: true });
  };

  const list = async (): Promise<ProcessStatus[]> => {
    const files = await readdir(folder).catch(() => []);
    const names = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));
    const all = await Promise.all(
      names.sort().map(async (name): Promise<ProcessStatus[]> => {
        const entry = await readEntry(folder, name);
        if (entry === undefined) return [];
        const pid = await findPid(pidFile(name));
        const known = { name, startedAt: entry.startedAt, log: logFile(name) };
        if (pid === undefined) return [{ ...known, running: false }];
        const { rssBytes, isStopped = false } = (await describeProcess(pid)) ?? {};
        return [
          {
            ...known,
            running: true,
            pid,
            ...(rssBytes !== undefined && { rssBytes }),
            ...(isStopped && { stopped: true }),
          },
        ];
      }),
    );
    return all.flat();
  };

  return { start, stop, list };
}

async function end(pid: number, pidFile: string, grace: number): Promise<void> {
  for (const [signal, timeout] of [
    ["SIGTERM", grace],
    ["SIGKILL", 10_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < timeout; waited += 50) {
      if ((await findPid(pidFile)) === undefined) return;
      await delay(50);
    }
  }
  throw new Error(`cannot end process ${pid}: it is still there after SIGKILL`);
}

async function readEntry(folder: string, name: string): Promise<Entry | undefined> {
  const text = await readFile(join(folder, `${name}.json`), "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Entry);
}

async function writeEntry(folder: string, name: string, entry: Entry): Promise<void> {
  const file = join(folder, `${name}.json`);
  await writeFile(`${file}.new`, `${JSON.stringify(entry)}\n`);
  await rename(`${file}.new`, file);
}

function fingerprintOf({ command, args, env = {}, cwd = "", version = "" }: ProcessSpec): string {
  const parts = [command, args, Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1)), cwd, version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

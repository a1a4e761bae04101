import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../log.ts";
import { withLock } from "../binary/lock.ts";
import type { Environment } from "../environment/environment.ts";
import { replaceFile } from "../replace-file.ts";
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
  /** How often it has died and was started again, unchanged. */
  readonly restarts: number;
  readonly log: string;
}

/** The processes of one environment. */
export interface Processes {
  /** Starts the process and waits until it is ready. One that runs already, unchanged, is left alone; a changed one is restarted. */
  start(spec: ProcessSpec): Promise<"started" | "running">;
  /** Ends the process, with SIGTERM and later SIGKILL to exactly its pid, and returns when it is gone. */
  stop(name: string): Promise<void>;
  /** Starts a process that has died once more, as it was started before; false when it has not, or is wanted no more. */
  revive(name: string): Promise<boolean>;
  list(): Promise<ProcessStatus[]>;
}

/** What `processes/NAME.json` says of a process that is wanted. */
interface Entry {
  /** Absent where an earlier version wrote it: such a process can be ended, and not started again as it was. */
  readonly spec?: Recorded;
  readonly startedAt: string;
  readonly restarts?: number;
}

type Recorded = Required<Pick<ProcessSpec, "name" | "command" | "args" | "env" | "version" | "grace">> &
  Pick<ProcessSpec, "cwd">;

/**
 * Keeps the environment's processes: detached, with a pid file each in `processes/` and a log each in `logs/`. One program of
 * this machine at a time starts or ends a process: `up`, `down` and the supervisor may meet.
 */
export function createProcesses(environment: Pick<Environment, "stateDir">, log: Logger): Processes {
  const folder = join(environment.stateDir, "processes");
  const logFile = (name: string) => join(environment.stateDir, "logs", `${name}.log`);
  const pidFile = (name: string) => join(folder, `${name}.pid`);

  const alone = async <T>(name: string, action: () => Promise<T>): Promise<T> =>
    await withLock(join(folder, `${name}.lock`), action);

  const begin = async (spec: Recorded, restarts: number): Promise<void> => {
    await mkdir(join(environment.stateDir, "logs"), { recursive: true });
    await writeEntry(folder, spec.name, { spec, startedAt: new Date().toISOString(), restarts });
    await launch(spec, pidFile(spec.name), logFile(spec.name));
  };

  const start = async (spec: ProcessSpec): Promise<"started" | "running"> => {
    const { name } = spec;
    const outcome = await alone(name, async () => {
      const recorded = recordOf(spec);
      const entry = await readEntry(folder, name);
      if (isDeepStrictEqual(entry?.spec, recorded) && (await findPid(pidFile(name))) !== undefined) return "running";
      await finish(name);
      await begin(recorded, 0);
      return "started";
    });
    await waitUntilReady(spec, pidFile(name), logFile(name));
    if (outcome === "started") log.info({ process: name }, "process started");
    return outcome;
  };

  const revive = async (name: string): Promise<boolean> =>
    await alone(name, async () => {
      const entry = await readEntry(folder, name);
      if (entry?.spec === undefined || (await findPid(pidFile(name))) !== undefined) return false;
      await begin(entry.spec, (entry.restarts ?? 0) + 1);
      return true;
    });

  const finish = async (name: string): Promise<void> => {
    const pid = await findPid(pidFile(name));
    if (pid !== undefined) {
      await end(pid, pidFile(name), (await readEntry(folder, name))?.spec?.grace ?? defaultGrace);
      log.info({ process: name, pid }, "process ended");
    }
    await rm(pidFile(name), { force: true });
    await rm(join(folder, `${name}.json`), { force: true });
  };

  const stop = async (name: string): Promise<void> => await alone(name, async () => await finish(name));

  const list = async (): Promise<ProcessStatus[]> => {
    const files = await readdir(folder).catch(() => []);
    const names = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));
    const all = await Promise.all(
      names.sort().map(async (name): Promise<ProcessStatus[]> => {
        const entry = await readEntry(folder, name);
        if (entry === undefined) return [];
        const pid = await findPid(pidFile(name));
        const { startedAt, restarts = 0 } = entry;
        const known = { name, startedAt, restarts, log: logFile(name) };
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

  return { start, stop, revive, list };
}

const defaultGrace = 5_000;

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
  await replaceFile(join(folder, `${name}.json`), `${JSON.stringify(entry)}\n`);
}

function recordOf({ name, command, args, env = {}, cwd, version = "", grace = defaultGrace }: ProcessSpec): Recorded {
  return { name, command, args, env, version, grace, ...(cwd !== undefined && { cwd }) };
}

import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expandCommand, parseEnvironmentFile, type Command, type Unit } from "./unit.ts";

/** A unit that is kept running. */
export interface Service {
  /** Terminates the unit's process, after ten seconds by force; what that left running, such as containers, goes on. */
  stop(): Promise<void>;
  /** Resolves when the unit was started for the first time; a oneshot's, when it has ended. */
  readonly started: Promise<void>;
}

/** Starts the unit, and again as its Restart= says, with its output appended to <logDir>/<unit>.log. */
export function runService(unit: Unit, logDir: string): Service {
  const log = openSync(join(logDir, `${unit.name.replace(/\.service$/, "")}.log`), "a");
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  const markStarted = Promise.withResolvers<void>();

  const execute = async (command: Command, onSpawn?: () => void): Promise<number> => {
    const environment = readEnvironment(unit);
    const [file = "", ...args] = expandCommand(command, environment);
    const running = spawn(file, args, { env: environment, cwd: unit.workingDirectory, stdio: ["ignore", log, log] });
    child = running;
    if (onSpawn !== undefined) running.once("spawn", onSpawn);
    return await new Promise<number>((resolve, reject) => {
      running.once("error", reject);
      running.once("exit", (code) => resolve(code ?? 1));
    });
  };
  const runOnce = async (): Promise<number> => {
    for (const command of unit.startPre) {
      const code = await execute(command);
      if (stopping.signal.aborted) return code;
      if (code !== 0 && !command.mayFail) return code;
    }
    const code = await execute(unit.start, unit.oneshot ? undefined : markStarted.resolve);
    return unit.start.mayFail ? 0 : code;
  };
  const keepRunning = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const code = await runOnce().catch((error: unknown) => {
        writeSync(log, `${String(error)}\n`);
        return 1;
      });
      markStarted.resolve();
      if (unit.restart === "no" || (unit.restart === "on-failure" && code === 0)) return;
      await sleep(Math.max(unit.restartDelay, 100), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const ended = keepRunning().finally(() => closeSync(log));

  return {
    started: markStarted.promise,
    async stop() {
      stopping.abort();
      child?.kill("SIGTERM");
      const timer = setTimeout(() => child?.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

function readEnvironment(unit: Unit): Record<string, string | undefined> {
  const files = unit.environmentFiles.map(({ path, optional }) => {
    try {
      return parseEnvironmentFile(readFileSync(path, "utf8"));
    } catch (error) {
      if (optional) return {};
      throw error;
    }
  });
  return Object.assign({}, process.env, unit.environment, ...files) as Record<string, string | undefined>;
}

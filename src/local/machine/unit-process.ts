import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { expandCommand, parseEnvironmentFile, type Command, type Unit } from "./unit.ts";

/** Processes that can be ended together. */
export interface ProcessGroup {
  /** What runs the words in the group. */
  wrap(words: readonly string[]): readonly string[];
  /** Asks all in it to end. */
  terminate(): Promise<void>;
  /** Kills all that is left in it, and returns when that is gone. */
  end(): Promise<void>;
}

/** The processes of a unit, which all write to one file. */
export interface UnitProcesses {
  /** Runs the commands one after another, and answers the first exit code that counts, or 0. */
  runAll(commands: readonly Command[]): Promise<number>;
  /** Runs the unit's own command and what is to be run when that has started; tells when it has, and answers how it has ended. */
  runMain(started: (pid: number) => void, isUp: () => void): Promise<number>;
  /** Sends a signal to those that were started here and run; from SIGTERM on no further one is started. */
  signal(signal: NodeJS.Signals): void;
}

/** `log` is the number of an open file; all that is started is in the group, if there is one. */
export function createUnitProcesses(unit: Unit, log: number, group: ProcessGroup | undefined): UnitProcesses {
  const running = new Set<ChildProcess>();
  let isStopped = false;
  const begin = (command: Command) => {
    const environment = readEnvironment(unit);
    const words = expandCommand(command, environment);
    const [file = "", ...args] = group?.wrap(words) ?? words;
    const child = spawn(file, args, { env: environment, cwd: unit.workingDirectory, stdio: ["ignore", log, log] });
    running.add(child);
    const ended = new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => resolve(code ?? 1));
    }).finally(() => running.delete(child));
    return { child, ended };
  };
  const runAll = async (commands: readonly Command[]): Promise<number> => {
    for (const command of commands) {
      if (isStopped) return 1;
      const code = await begin(command).ended;
      if (code !== 0 && !command.mayFail) return code;
    }
    return 0;
  };
  /** What follows the start of a process that goes on ends with it, unless that has ended well. */
  const follow = async ({ child, ended }: ReturnType<typeof begin>, isUp: () => void): Promise<number> => {
    const stopOthers = () => running.forEach((one) => one !== child && one.kill("SIGTERM"));
    const main = ended.then((code) => {
      if (code !== 0) stopOthers();
      return code;
    });
    const followed = await runAll(unit.startPost);
    if (followed !== 0) child.kill("SIGTERM");
    else if (child.exitCode === null && child.signalCode === null) isUp();
    return (await main) || followed;
  };
  return {
    runAll,
    async runMain(started, isUp) {
      if (isStopped) return 1;
      const main = begin(unit.start);
      main.child.once("spawn", () => started(main.child.pid ?? 0));
      if (unit.oneshot) return (await main.ended) || (await runAll(unit.startPost));
      if (unit.startPost.length > 0) return await follow(main, isUp);
      main.child.once("spawn", isUp);
      return await main.ended;
    },
    signal(signal) {
      isStopped = true;
      for (const child of running) child.kill(signal);
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

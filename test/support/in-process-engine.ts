import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readJournal } from "../../src/in-process/journal.ts";
import { startEngineChild } from "./engine-child.ts";
import type { Engine, EngineOutcome, ShownStep } from "./engine.ts";

/** The engine of gardenadm, each run in a process of its own. */
export function startInProcessEngine(): Promise<Engine> {
  return Promise.resolve({
    async begin(table, { folder, tell }, retryDuration) {
      const start = () => startEngineChild("engine-in-process-main.ts", folder, table, String(retryDuration));
      let child = start();
      await child.begun;
      return {
        async outcome() {
          const [, outcome] = (await child.ended).split("\n");
          if (outcome === undefined || outcome === "") throw new Error(`no outcome:\n${await textOf(folder)}`);
          return outcome as EngineOutcome;
        },
        shown: async () => await shownIn(join(folder, "journal")),
        async goOn() {
          child = start();
          await child.begun;
        },
        tell,
        interrupt: async () => await Promise.resolve(void child.process.kill("SIGTERM")),
        async kill() {
          await child.kill();
          child = start();
          await child.begun;
        },
        close: async () => await child.kill(),
      };
    },
    stop: async () => {},
  });
}

async function shownIn(file: string): Promise<Record<string, ShownStep>> {
  const shown: Record<string, ShownStep> = {};
  for (const { step, state, attempt, message, codes } of await readJournal(file))
    shown[step] = {
      state,
      ...(attempt !== undefined && { attempt }),
      ...(message !== undefined && { message }),
      ...(codes !== undefined && { codes }),
    };
  return shown;
}

const textOf = async (folder: string): Promise<string> => await readFile(join(folder, "journal"), "utf8");

/**
 * Runs a table in this process, as gardenadm does: the arguments are the world's folder, the table and the time for retries in ms.
 * It writes a line when it begins, and one with its outcome. SIGTERM asks it to end.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { judge } from "../../src/gardenadm/steps/fault.ts";
import { openJournal } from "../../src/in-process/journal.ts";
import { ParkedError, runInProcess } from "../../src/in-process/run.ts";
import { engineTables, type EngineTable } from "./engine-tables.ts";
import { actInWorld, isToldIn } from "./engine-world.ts";
import { shootRun } from "./shoot-run.ts";

const [, , folder = "", table = "waves", retryDuration = "0"] = process.argv;
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("asked to end")));
process.stdout.write("begun\n");

async function untilTold(step: string, signal: AbortSignal): Promise<void> {
  while (!(await isToldIn(folder, step))) await delay(50, undefined, { signal });
}

try {
  await runInProcess(engineTables[table as EngineTable], shootRun(), {
    journal: await openJournal(join(folder, "journal")),
    run: String(process.pid),
    judge,
    retryDuration: Number(retryDuration),
    signal: stop.signal,
    async carryOut(action, { signal }, step) {
      await actInWorld(folder, step);
      if ("activity" in action && action.activity === "stopWorkloads") await untilTold(step, signal);
    },
  });
  process.stdout.write("succeeded\n");
} catch (error) {
  if (stop.signal.aborted) process.stdout.write("stopped\n");
  else if (error instanceof ParkedError) process.stdout.write("parked\n");
  else throw error;
}

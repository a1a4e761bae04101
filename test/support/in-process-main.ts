/**
 * Runs a flow of three steps that make a file each, in the folder of the first argument. The second says after how many lines of the
 * journal, and of work, the process kills itself.
 */
import { access, appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineFlow } from "../../src/flow/flow.ts";
import { openJournal } from "../../src/in-process/journal.ts";
import { withLock } from "../../src/in-process/lock.ts";
import { runInProcess } from "../../src/in-process/run.ts";

const [, , folder = "", moments = "0"] = process.argv;
let left = Number(moments);

function dieWhenDue(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const row = (action: string, ...after: ("one" | "two")[]) => ({ do: action, after });
const flow = defineFlow<undefined, string, "one" | "two" | "three">("make three files", {
  one: row("one"),
  two: row("two", "one"),
  three: row("three", "two"),
});

const isThere = async (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

await withLock(join(folder, "lock"), async () => {
  const opened = await openJournal(join(folder, "journal"));
  const journal: typeof opened = {
    async append(entry) {
      await opened.append(entry);
      dieWhenDue();
    },
  };
  await runInProcess(flow, undefined, {
    journal,
    run: String(process.pid),
    retryDuration: 0,
    judge: (error) => ({ message: String(error), codes: [], retryable: false }),
    signal: new AbortController().signal,
    async carryOut(name) {
      if (await isThere(join(folder, name))) return;
      await appendFile(join(folder, "made"), `${name}\n`);
      await writeFile(join(folder, name), "");
      dieWhenDue();
    },
  });
});

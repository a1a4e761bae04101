import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openJournal, readJournal, type JournalEntry } from "../../../src/in-process/journal.ts";
import { LockedError, withLock } from "../../../src/in-process/lock.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-journal-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const entry = (step: string): JournalEntry => ({ time: "t", run: "r", flow: "f", step, state: "done" });

describe("the journal", () => {
  test("keeps what is written at once in its order, for root only", async () => {
    const file = join(folder, "deep/journal");
    const journal = await openJournal(file);
    await Promise.all(["a", "b", "c"].map((step) => journal.append(entry(step))));
    expect((await readJournal(file)).map(({ step }) => step)).toEqual(["a", "b", "c"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("without the line that a crash has cut off, which the next one does not go on", async () => {
    const file = join(folder, "journal");
    await (await openJournal(file)).append(entry("a"));
    await appendFile(file, '{"time":"t","ru');
    expect(await readJournal(file)).toHaveLength(1);
    await (await openJournal(file)).append(entry("b"));
    expect((await readJournal(file)).map(({ step }) => step)).toEqual(["a", "b"]);
  });

  test("is empty where there is none", async () => {
    expect(await readJournal(join(folder, "none"))).toEqual([]);
  });
});

describe("the lock of a machine", () => {
  const lock = () => join(folder, "lock");

  test("refuses a second one while the first is at work, and lets it in afterwards", async () => {
    await withLock(lock(), async () => {
      await expect(withLock(lock(), async () => {})).rejects.toThrow(`process ${process.pid} is at work here`);
      await expect(withLock(lock(), async () => {})).rejects.toBeInstanceOf(LockedError);
    });
    await expect(withLock(lock(), async () => "in")).resolves.toBe("in");
  });

  test("of another file is another lock", async () => {
    await withLock(lock(), async () => {
      await expect(withLock(join(folder, "other"), async () => "in")).resolves.toBe("in");
    });
  });

  test("says whose it is, and takes over what a killed process has left", async () => {
    await writeFile(lock(), "process 1\n");
    await expect(withLock(lock(), async () => await readFile(lock(), "utf8"))).resolves.toBe(
      `process ${process.pid}\n`,
    );
  });

  test("is given back when the work fails", async () => {
    await expect(withLock(lock(), () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    await expect(withLock(lock(), async () => "in")).resolves.toBe("in");
  });
});

test("a run that is killed at any moment goes on where it was: each file is made once, or looked for again", async () => {
  const main = new URL("../../support/in-process-main.ts", import.meta.url).pathname;
  const run = async (moment: number) =>
    execa(process.execPath, [main, folder, String(moment)], { reject: false, stdio: "ignore" });
  // Two lines of the journal and a file for each of three steps.
  for (let moment = 1; moment <= 9; moment += 1) {
    await rm(folder, { recursive: true, force: true });
    folder = await mkdtemp(join(tmpdir(), "perennial-journal-"));
    expect((await run(moment)).signal, `killed at moment ${moment}`).toBe("SIGKILL");
    expect((await run(0)).exitCode).toBe(0);
    expect(await readFile(join(folder, "made"), "utf8")).toBe("one\ntwo\nthree\n");
    const ends = (await readJournal(join(folder, "journal"))).filter(({ state }) => state === "done");
    expect(new Set(ends.map(({ step }) => step))).toEqual(new Set(["one", "two", "three"]));
  }
});

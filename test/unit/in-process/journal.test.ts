import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
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

  test("cannot be taken by another user, who may have its name", async () => {
    const file = join(folder, "own", "lock");
    const stranger = createServer().listen(`\0perennial:${file}`);
    onTestFinished(() => void stranger.close());
    await once(stranger, "listening");
    await expect(withLock(file, async () => "in")).resolves.toBe("in");
    const modes = await Promise.all([file, dirname(file)].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700]);
  });

  test("is no program's that was begun meanwhile, and outlasts its holder", async () => {
    const child = await withLock(lock(), async () => spawn("sleep", ["30"], { stdio: "ignore" }));
    onTestFinished(() => void child.kill());
    await expect(withLock(lock(), async () => "in")).resolves.toBe("in");
  });

  test("is of the file that is there: one that a holder removes before it ends locks no other in, nor out", async () => {
    await withLock(lock(), async () => {
      await rm(lock());
      await withLock(lock(), async () => {
        await expect(withLock(lock(), async () => {})).rejects.toBeInstanceOf(LockedError);
      });
    });
  });

  test("has one holder at a time, however many ask for it, and whatever each removes", async () => {
    let [inside, most, turns] = [0, 0, 0];
    const take = async (): Promise<void> => {
      const isTaken = await withLock(lock(), async () => {
        most = Math.max(most, (inside += 1));
        turns += 1;
        await delay(5);
        inside -= 1;
        await rm(lock());
      }).catch((error: unknown) => {
        if (!(error instanceof LockedError)) throw error;
        return "locked";
      });
      if (isTaken === "locked") await take();
    };
    await Promise.all(Array.from({ length: 8 }, take));
    expect([most, turns]).toEqual([1, 8]);
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

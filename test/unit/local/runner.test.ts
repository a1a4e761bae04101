import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../../src/local/machine/unit.ts";
import { read } from "../../../src/local/runner/journalctl/main.ts";
import { inOrder } from "../../../src/local/runner/order.ts";
import { untilNext } from "../../../src/local/runner/timer.ts";
import { fullName } from "../../../src/local/runner/unit-files.ts";
import { readWords } from "../../../src/local/runner/words.ts";

describe("units in order", () => {
  const unit = (name: string, text: string) => ({ name, parts: [], settings: readSettings(text) });
  const units = [unit("c", "After=b"), unit("a", "Before=b"), unit("b", ""), unit("lone", "After=network.target")];
  const orderOf = async (...args: readonly ["backward"?]) => {
    const done: string[] = [];
    await inOrder(units, async ({ name }) => void done.push(await Promise.resolve(name)), ...args);
    return done.filter((name) => name !== "lone").join(" ");
  };

  test("each begins when those before it have ended", async () => {
    expect(await orderOf()).toBe("a b c");
    expect(await orderOf("backward")).toBe("c b a");
  });

  test("a circle is cut, and all are done", async () => {
    const done: string[] = [];
    const circle = [unit("a", "After=b"), unit("b", "After=c"), unit("c", "After=a")];
    await inOrder(circle, async ({ name }) => void done.push(await Promise.resolve(name)));
    expect(done.toSorted()).toEqual(["a", "b", "c"]);
  });
});

test("a timer elapses at the next midnight or hour", () => {
  const now = new Date(2026, 10, 26, 22, 30, 0, 250);
  expect(untilNext("daily", now)).toBe(90 * 60_000 - 250);
  expect(untilNext("hourly", now)).toBe(30 * 60_000 - 250);
});

test("the words of systemctl are read as it reads them, and a word that is not known is named", () => {
  const { verb, names, flags } = readWords(["--no-pager", "show", "a", "-p", "MainPID,Id", "--value"]);
  expect({ verb, names, flags }).toMatchObject({
    verb: "show",
    names: ["a"],
    flags: { property: ["MainPID,Id"], value: true },
  });
  expect(() => readWords(["start", "--job-mode=fail", "a"])).toThrow("--job-mode");
  expect(fullName("kubelet")).toBe("kubelet.service");
  expect(fullName("a.timer")).toBe("a.timer");
});

test("journalctl shows what units have written, of all or of those asked for", async () => {
  const directory = await mkdtemp(join(tmpdir(), "journal-"));
  await writeFile(join(directory, "a.log"), "one\ntwo\n");
  await writeFile(join(directory, "b.log"), "three\n");
  expect(read(["--directory", directory])).toBe("-- a.log\none\ntwo\n-- b.log\nthree\n");
  expect(read(["--directory", directory, "--unit", "a.service", "--lines", "1"])).toBe("two\n");
  expect(read(["--directory", directory, "-u", "none"])).toBe("");
  expect(() => read(["--vacuum-size=1"])).toThrow("--vacuum-size");
  await rm(directory, { recursive: true });
});

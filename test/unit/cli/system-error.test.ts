import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainError } from "../../../src/cli/exit.ts";
import { explainSystemError } from "../../../src/system-error.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-system-error-"));
  await writeFile(join(folder, "file"), "");
});
afterAll(async () => await rm(folder, { recursive: true }));

const thrown = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => expect.fail("it worked"),
    (error: unknown) => error,
  );

test.each<[string, (folder: string) => Promise<unknown>, string]>([
  ["a file that is not there", (at) => readFile(join(at, "none")), "cannot open none: there is no such file or folder"],
  ["a folder that is read as a file", (at) => readFile(at), "it is a folder: name a file"],
  ["a path through a file", (at) => readFile(join(at, "file/a")), "a part of the path is a file, not a folder"],
  [
    "a folder that is not there",
    (at) => readdir(join(at, "none")),
    "cannot read none: there is no such file or folder",
  ],
  ["a folder that is there", (at) => mkdir(at), "it is there already"],
  [
    "a place that nobody may write to",
    () => mkdir("/proc/perennial"),
    "cannot make the folder /proc/perennial: there is no",
  ],
  [
    "a program that is not there",
    () => once(spawn("no-such-program"), "exit"),
    "cannot run no-such-program: there is no such file or folder",
  ],
])("%s is told in words", async (_, work, words) => {
  const sentence = explainError(await thrown(work(folder))).sentence.replaceAll(`${folder}/`, "");
  expect(sentence).toContain(words);
  expect(sentence).not.toMatch(/\bE[A-Z]{3,}\b/);
});

test("another error, and a sentence of ours about one, stay as they are", async () => {
  const cause = await thrown(readFile(join(folder, "none")));
  for (const error of [new Error("no"), new Error("cannot read it", { cause }), "no"])
    expect(explainSystemError(error)).toBeUndefined();
});

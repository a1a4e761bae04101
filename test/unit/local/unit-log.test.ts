import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readUnitLog } from "../../../src/local/machine/unit-log.ts";

let folder: string;

beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-unit-log-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const place = () => join(folder, "kubelet.log");

test("the end of a unit's log is read, and no more of it", async () => {
  await writeFile(place(), `${"a".repeat(40_000)}\nthe end\n`);
  const text = await readUnitLog(folder, "kubelet");
  expect(text).toHaveLength(16_384);
  expect(text).toMatch(/a\nthe end\n$/);
});

test("a unit without a log has said nothing", async () => {
  expect(await readUnitLog(folder, "kubelet")).toBe("");
});

test.each([
  ["a link to a file of the host", () => symlink("/etc/hostname", place())],
  ["a pipe that is never written", async () => void execFileSync("mkfifo", [place()])],
  ["a folder", async () => void execFileSync("mkdir", [place()])],
])("%s in the place of a log is not read", async (_, make) => {
  await make();
  expect(await readUnitLog(folder, "kubelet")).toBe("");
});

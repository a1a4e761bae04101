import { execFile } from "node:child_process";
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { copyWhole } from "../../../src/node-agent/whole-file.ts";
import { eventually } from "../../support/eventually.ts";

test("while a file is written, its content is for its owner alone, and nothing is at its path", async () => {
  const folder = await mkdtemp(join(tmpdir(), "whole-file-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [source, file, draft] = ["source", "file", ".file.new"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await promisify(execFile)("mkfifo", [source]);
  const copying = copyWhole(source, file, 0o644);
  const writer = await open(source, "w");
  await writer.write("secret");
  await eventually(async () => expect(await readFile(draft, "utf8")).toBe("secret"));
  expect((await stat(draft)).mode & 0o777).toBe(0o600);
  await expect(stat(file)).rejects.toThrow("ENOENT");
  await writer.close();
  await copying;
  expect(await readFile(file, "utf8")).toBe("secret");
  expect((await stat(file)).mode & 0o777).toBe(0o644);
  await expect(stat(draft)).rejects.toThrow("ENOENT");
});

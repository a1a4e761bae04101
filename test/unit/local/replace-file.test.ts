import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { replaceFile } from "../../../src/local/replace-file.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-replace-"))));
afterEach(() => rm(folder, { recursive: true }));

const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

it("a replaced file is for its owner alone unless it is told otherwise, also over a draft that a dead process left", async () => {
  const [own, open] = [join(folder, "own"), join(folder, "open")];
  await writeFile(`${own}.new`, "half", { mode: 0o666 });
  await replaceFile(own, "secret");
  await replaceFile(open, "known", 0o644);
  expect([await modeOf(own), await modeOf(open)]).toEqual(["600", "644"]);
  expect(await readFile(own, "utf8")).toBe("secret");
  expect((await readdir(folder)).sort()).toEqual(["open", "own"]);
});

it("a replaced file is never changed in place: who has opened it reads on in what was there", async () => {
  const file = join(folder, "file");
  await replaceFile(file, "before");
  const { ino } = await stat(file);
  await replaceFile(file, "after");
  expect((await stat(file)).ino).not.toBe(ino);
});

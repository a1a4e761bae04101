import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectProgram, compiledPath } from "../../../src/local/image/program-files.ts";
import type { ImageFile } from "../../../src/local/image/tar.ts";

const root = join(import.meta.dirname, "../../..");
const main = "src/provider-local/main.ts";
let files: readonly ImageFile[];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-program-"));
  files = await collectProgram(root, main, folder);
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

test("a program starts from its files alone, and loads all of its code before it asks for its configuration", async () => {
  for (const file of files) {
    await mkdir(dirname(file.path), { recursive: true });
    if ("source" in file) await copyFile(file.source, file.path);
    else await writeFile(file.path, file.text);
  }
  const { stderr } = await execa(process.execPath, [join(folder, compiledPath(main))], {
    env: {},
    extendEnv: false,
    reject: false,
  });
  expect(stderr).toContain("cannot read the configuration: PERENNIAL_GARDEN_KUBECONFIG: is not set");
}, 60_000);

test("what other programs import is not among them", () => {
  const paths = files.map(({ path }) => path.slice(folder.length + 1));
  expect(paths).toContain("node_modules/yaml/package.json");
  expect(paths).toContain("dist/provider-local/main.js");
  expect(
    paths.filter((path) => /^node_modules\/(@temporalio|typescript)\/|^dist\/(manager|worker|cli)\//.test(path)),
  ).toEqual([]);
});

test("no module of a program has types that it would have to take out itself", () => {
  expect(files.filter(({ path }) => path.endsWith(".ts"))).toEqual([]);
});

import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundlePrograms } from "../../../src/local/image/program-files.ts";
import type { ImageFile } from "../../../src/local/image/tar.ts";
import { readVersion } from "../../../src/package.ts";

let folder: string;
let provider: readonly ImageFile[];
let gardenadm: readonly ImageFile[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-program-"));
  provider = await bundlePrograms(["provider-local", "provider-local/network-agent"], join(folder, "provider"));
  gardenadm = await bundlePrograms(["gardenadm", "gardenadm/node-agent"], join(folder, "gardenadm"));
  for (const file of [...provider, ...gardenadm]) {
    await mkdir(dirname(file.path), { recursive: true });
    if ("source" in file) await copyFile(file.source, file.path);
    else await writeFile(file.path, file.text);
  }
}, 60_000);

afterAll(async () => await rm(folder, { recursive: true, force: true }));

test("a program starts from its files alone, and loads all of its code before it asks for its configuration", async () => {
  const { stderr } = await start("provider/dist/provider-local/main.js");
  expect(stderr).toContain("cannot read the configuration: PERENNIAL_GARDEN_KUBECONFIG: is not set");
});

test("what other programs import is not among them", () => {
  const text = provider.flatMap((file) => ("text" in file ? file.text : [])).join("\n");
  expect(text).toContain("PERENNIAL_GARDEN_KUBECONFIG");
  expect(text).not.toMatch(/@temporalio|^\/\/#region src\/(manager|worker|cli|gardenadm)\//m);
});

test("a program finds what lies beside its code, wherever the modules are that it shares", async () => {
  const { stdout } = await start("gardenadm/dist/gardenadm/main.js", "version");
  expect(stdout).toContain(`gardenadm ${await readVersion()} (`);
  const others = gardenadm.filter((file) => "text" in file && ELSEWHERE.test(file.text));
  expect(others.map(({ path }) => path)).toEqual([]);
});

test("a package goes with its license", () => {
  const licenses = gardenadm.map(({ path }) => path.slice(join(folder, "gardenadm/").length));
  expect(licenses).toEqual(expect.arrayContaining(["licenses/@peculiar/x509/LICENSE", "licenses/zod/LICENSE"]));
});

/** What would be looked for from the place of a module in `src`, which no module of a bundle has. */
const ELSEWHERE = /new URL\([^)]*import\.meta\.url|import\.meta\.main\b/;

async function start(main: string, ...args: string[]) {
  return await execa(process.execPath, [join(folder, main), ...args], { env: {}, extendEnv: false, reject: false });
}

import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundlePrograms } from "../../../src/local/image/program-files.ts";
import type { ImageFile } from "../../../src/local/image/tar.ts";
import { readVersion } from "../../../src/package.ts";
import { seconds } from "../../support/patience.ts";

let folder: string;
let provider: readonly ImageFile[];
let gardenadm: readonly ImageFile[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-program-"));
  provider = await bundlePrograms(["provider-local", "provider-local/network-agent"], join(folder, "provider"));
  gardenadm = await bundlePrograms(PROGRAMS, join(folder, "gardenadm"));
  for (const file of [...provider, ...gardenadm]) {
    await mkdir(dirname(file.path), { recursive: true });
    if ("source" in file) await copyFile(file.source, file.path);
    else await writeFile(file.path, file.text);
  }
}, seconds(60));

afterAll(async () => await rm(folder, { recursive: true, force: true }));

test("a program starts from its files alone, and loads all of its code before it asks for its configuration", async () => {
  const says = async (main: string) => (await start(main)).stderr;
  expect(await says("provider/dist/provider-local/main.js")).toContain("PERENNIAL_GARDEN_KUBECONFIG: is not set");
  expect(await says("provider/dist/provider-local/network-agent/main.js")).toContain("NODE_NAME: is not set");
});

test("what other programs import is not among them", () => {
  const [ofProvider, ofGardenadm] = [textOf(provider), textOf(gardenadm)];
  expect(ofGardenadm).toContain(SUMMARY);
  expect(ofProvider).toContain("PERENNIAL_GARDEN_KUBECONFIG");
  expect(ofProvider).not.toContain(SUMMARY);
  expect(`${ofProvider}${ofGardenadm}`).not.toContain("@temporalio/");
});

test("a program finds what lies beside its code, wherever the modules are that it shares", async () => {
  const { stdout } = await start("gardenadm/dist/gardenadm/main.js", "version");
  expect(stdout).toContain(`gardenadm ${await readVersion()} (`);
  const others = gardenadm.filter((file) => "text" in file && ELSEWHERE.test(file.text));
  expect(others.map(({ path }) => path)).toEqual([]);
});

test("a package goes with its license, and with those of others in it", () => {
  const paths = gardenadm.map(({ path }) => path.slice(join(folder, "gardenadm/").length));
  const licenses = ["@peculiar/x509/LICENSE", "undici/LICENSE", "undici/lib/web/fetch/LICENSE", "zod/LICENSE"];
  expect(paths).toEqual(expect.arrayContaining(licenses.map((file) => `licenses/${file}`)));
});

const PROGRAMS = ["gardenadm", "gardenadm/node-agent", "gardenadm/renewal"];

/** Of gardenadm, in its help. */
const SUMMARY = "Makes machines a Kubernetes cluster that carries its own control plane";

const textOf = (files: readonly ImageFile[]): string =>
  files.flatMap((file) => ("text" in file ? file.text : [])).join("\n");

/** What would be looked for from the place of a module in `src`, which no module of a bundle has. */
const ELSEWHERE = /new URL\([^)]*import\.meta\.url|import\.meta\.main\b/;

async function start(main: string, ...args: string[]) {
  return await execa(process.execPath, [join(folder, main), ...args], { env: {}, extendEnv: false, reject: false });
}

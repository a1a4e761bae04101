import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What no folder may do, each planted in a file of its own. */
const planted: Readonly<Record<string, [file: string, code: string]>> = {
  "arrows-of-kube": ["kube/up.ts", 'import "../manager/main.ts";'],
  "arrows-of-extension": ["extension/up.ts", 'import "../local/ground.ts";'],
  "arrows-of-workflows": ["workflows/values.ts", 'import "../api/ground.ts";'],
  "type-arrows-of-flow": ["flow/types.ts", 'import type { Ground } from "../api/ground.ts";\nexport type A = Ground;'],
  "home-of-undici": ["activities/http.ts", 'import "undici";'],
  "home-of-@peculiar/x509": ["controllers/pki.ts", 'import "@peculiar/x509";'],
  "workflows-are-deterministic": ["workflows/disk.ts", 'import "node:fs";'],
  "the-pure-import-nothing": ["components/disk.ts", 'import "node:fs";'],
  "folders-are-known": ["elsewhere/a.ts", 'import "../api/ground.ts";'],
  "no-cycles": ["api/round.ts", 'import "./round-again.ts";'],
  "no-orphans": ["log/alone.ts", "export {};"],
  resolvable: ["api/lost.ts", 'import "./nowhere.ts";'],
};

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-arrows-"));
  for (const name of [".dependency-cruiser.cjs", "tsconfig.json", "package.json"]) {
    await cp(join(root, name), join(directory, name));
  }
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  await write("manager/main.ts", 'import "../api/ground.ts";');
  await write("api/ground.ts", "export interface Ground { readonly a: string }");
  await write("local/ground.ts", 'import "../log/ground.ts";');
  await write("log/ground.ts", "export {};");
});

afterAll(async () => await rm(directory, { recursive: true, force: true }));

test("arrows that point down are let through", async () => {
  expect(await violations()).toEqual([]);
});

test("every planted violation is found, by the rule that is about it", async () => {
  for (const [file, code] of Object.values(planted)) await write(file, code);
  await write("api/round-again.ts", 'import "./round.ts";');
  expect(await violations()).toEqual(expect.arrayContaining(Object.keys(planted)));
});

async function write(file: string, code: string): Promise<void> {
  const path = join(directory, "src", file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, code);
}

/** The names of the rules that are broken. */
async function violations(): Promise<string[]> {
  const binary = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
  const args = [binary, "src", "--config", ".dependency-cruiser.cjs", "--output-type", "json"];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: directory, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
  });
  const { summary } = JSON.parse(output) as { summary: { violations: { rule: { name: string } }[] } };
  return [...new Set(summary.violations.map(({ rule }) => rule.name))];
}

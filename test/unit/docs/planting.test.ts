import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { whileChanged } from "../../mutation/copy.ts";
import { patternOf } from "../../mutation/run-test.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-planting-"));
  file = join(folder, "one.ts");
  await writeFile(file, "a = 1;\nb = 1;\n");
});
afterEach(async () => await rm(folder, { recursive: true }));

describe("a contradiction", () => {
  const seen = async () => await readFile(file, "utf8");

  it("stands in its file while the work is done, and no longer, also when that fails", async () => {
    const change = { find: "a = 1", put: "a = 2" };
    expect(await whileChanged(file, change, seen)).toBe("a = 2;\nb = 1;\n");
    await expect(whileChanged(file, change, async () => await Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await seen()).toBe("a = 1;\nb = 1;\n");
  });

  it.each([
    ["nowhere", "c = 1"],
    ["several times", "= 1"],
  ])("is not planted where its text stands %s", async (where, find) => {
    await expect(whileChanged(file, { find, put: "" }, seen)).rejects.toThrow(`one.ts has ${where} "${find}"`);
    expect(await seen()).toBe("a = 1;\nb = 1;\n");
  });
});

it.each([
  ["%s is refused, with %i", "a (b) is refused, with 7", true],
  ["$title has them", "Delete Shoot has them", true],
  ["no later one acts, in ${SAMPLE} schedules", "no later one acts, in 20 schedules", true],
  ["a price of 5.0 is kept", "a price of 5x0 is kept", false],
])("a test that is named %j in its source is found by what it is called then: %j: %j", (name, called, isFound) => {
  expect(new RegExp(`^${patternOf(name)}$`).test(called)).toBe(isFound);
});

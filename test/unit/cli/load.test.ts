import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { load } from "../../../src/cli/local/load.ts";
import { ensureEnvironment } from "../../../src/local/environment/file.ts";
import { fakeTerminal } from "./fake-terminal.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-load-"));
  await writeFile(join(folder, "image.tar"), "");
});
afterAll(() => rm(folder, { recursive: true }));

const loading = (file: string, state: string) => {
  const variables = { PERENNIAL_STATE_DIR: join(folder, state) };
  const context = { terminal: fakeTerminal(), variables } as unknown as Parameters<typeof load.run>[0]["context"];
  return load.run({ args: { file: join(folder, file) }, options: { name: undefined }, context });
};

test("an image that is loaded into nothing is an error that says what is missing", async () => {
  await expect(loading("other.tar", "none")).rejects.toThrow(`there is no file ${join(folder, "other.tar")}`);
  await expect(loading("image.tar", "none")).rejects.toThrow("environment local is not up");
});

test("an environment whose seeds are clusters that existed before takes no image", async () => {
  await ensureEnvironment({ name: "local", stateDir: join(folder, "existing") });
  await expect(loading("image.tar", "existing")).rejects.toThrow(
    "has no machines of seeds: push the image to a registry",
  );
});

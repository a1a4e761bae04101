import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseStateKeys } from "../../../src/activities/state/keys.ts";
import { add } from "../../../src/cli/state-key/add.ts";
import type { Context } from "../../../src/cli/context.ts";
import { fakeTerminal } from "./fake-terminal.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-keys-"))));
afterEach(() => rm(folder, { recursive: true }));

const run = async (holder: string, file: string) => {
  const terminal = fakeTerminal();
  await add.run({ args: { holder, file }, options: {}, context: { terminal } as unknown as Context });
  return terminal;
};

describe("state-key add", () => {
  it("makes a file that only its owner reads, and puts a further key before the first", async () => {
    const file = join(folder, "keys.json");
    const { out, err } = await run("seed-1", file);
    const [first] = parseStateKeys(await readFile(file, "utf8"));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(`${out.text()}${err.text()}`).toBe(`key of seed-1 written to ${file}: it comes first\n`);
    await run("seed-1", file);
    const keys = parseStateKeys(await readFile(file, "utf8"));
    expect(keys.map(({ id }) => id)).toEqual([expect.stringMatching(/^seed-1-[0-9a-f]{8}$/), first?.id]);
  });

  it("leaves a file alone that is none of keys, and takes no name that no Seed has", async () => {
    const file = join(folder, "keys.json");
    await writeFile(file, "precious");
    await expect(run("seed-1", file)).rejects.toThrow("has to be a JWK set");
    expect(await readFile(file, "utf8")).toBe("precious");
    await expect(run("Seed 1", join(folder, "new.json"))).rejects.toThrow("say a Seed's name, or garden");
  });
});

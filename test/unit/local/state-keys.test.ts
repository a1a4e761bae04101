import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseStateKeys } from "../../../src/activities/state/keys.ts";
import { ensureStateKeys } from "../../../src/local/environment/state-keys.ts";

let stateDir: string;
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), "perennial-keys-"))));
afterEach(() => rm(stateDir, { recursive: true }));

it("a holder's state key is made once, and only its owner can read it", async () => {
  const file = await ensureStateKeys({ stateDir }, "seed-1");
  const text = await readFile(file, "utf8");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(parseStateKeys(text).map(({ id }) => id)).toEqual([expect.stringMatching(/^seed-1-/)]);
  expect(await ensureStateKeys({ stateDir }, "seed-2")).not.toBe(file);
  expect(await ensureStateKeys({ stateDir }, "seed-1")).toBe(file);
  expect(await readFile(file, "utf8")).toBe(text);
});

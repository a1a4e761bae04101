import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDirectoryClient } from "../../../../src/kube/directory/directory-client.ts";
import { ConfigMap } from "../../../../src/kube/index.ts";
import { numbered, WRITTEN } from "../../../support/numbered-object.ts";
import { seconds } from "../../../support/patience.ts";

const WRITER = new URL("../../../support/directory-writer-main.ts", import.meta.url).pathname;

let directory: string;

beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "killed-"))));
afterAll(() => rm(directory, { recursive: true, force: true }));

test(
  "a writer that is killed leaves every object whole, and the newest write that it has reported",
  { timeout: seconds(120) },
  async () => {
    let newest = { number: -1, version: 0 };
    for (let round = 0; round < 15; round++) {
      newest = await writeUntilKilled(newest.number + 1, 1 + Math.floor(Math.random() * 25), Math.random() * 4);
      const found = await createDirectoryClient({ directory }).list(ConfigMap);
      const numbers = found.map(({ data }) => Number(data?.["number"]));
      for (const object of found) expect(object.data).toEqual(numbered(Number(object.data?.["number"])).data);
      expect(Math.max(...numbers)).toBeGreaterThanOrEqual(newest.number);
      expect(Math.max(...numbers)).toBeLessThanOrEqual(newest.number + 1);
      // All but the one that was being replaced are those of the last writes.
      const last = Array.from({ length: WRITTEN - 1 }, (_, i) => newest.number - i).filter((number) => number >= 0);
      const isTouched = (number: number) => number % WRITTEN === (newest.number + 1) % WRITTEN;
      for (const number of last) expect(isTouched(number) || numbers.includes(number)).toBe(true);
    }
  },
);

test("a writer that begins where another was killed uses no version again, and takes away what that one has left half written", async () => {
  const { number, version } = await writeUntilKilled(1000, 3, 0);
  const written = await createDirectoryClient({ directory }).apply(numbered(number + 1));
  expect(Number(written.metadata.resourceVersion)).toBeGreaterThan(version);
  const drafts = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith(".draft"));
  expect(drafts).toEqual([]);
});

interface Reported {
  readonly number: number;
  readonly version: number;
}

/** Kills the writer `late` ms after it has reported so many writes; what it has reported last. */
async function writeUntilKilled(from: number, reports: number, late: number): Promise<Reported> {
  const writer = spawn(process.execPath, [WRITER, directory, String(from)], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = new Promise<void>((resolve) => writer.once("close", () => resolve()));
  let newest: Reported = { number: from - 1, version: 0 };
  let [count, before] = [0, 0];
  for await (const line of createInterface(writer.stdout)) {
    const [number = 0, version = 0] = line.split(" ").map(Number);
    expect(version).toBeGreaterThan(before);
    [before, newest] = [version, { number, version }];
    if (++count !== reports) continue;
    const until = performance.now() + late;
    while (performance.now() < until); // the moment is what this test is about
    writer.kill("SIGKILL");
  }
  await closed;
  expect(count).toBeGreaterThanOrEqual(reports);
  return newest;
}

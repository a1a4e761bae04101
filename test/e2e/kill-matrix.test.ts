import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";

/** `npm run kill-matrix` takes them all. */
const SAMPLE = 6;

test("a migration comes to the same whoever is killed at whichever step", async () => {
  const command = join(import.meta.dirname, "../kill-matrix/main.ts");
  const options = ["--sample", String(SAMPLE), "--labs", "2"];
  const { exitCode, all } = await execa(process.execPath, [command, ...options], { all: true, reject: false });
  console.log(all);
  expect(all).toContain(`a process was killed in ${SAMPLE}; another outcome in 0`);
  expect(exitCode).toBe(0);
});

import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";

/** One step for each of these processes and servers; `npm run kill-matrix` takes them all, and takes servers away for longer. */
const SAMPLE = 6;
const choice = ["--parts", "garden,source,destination", "--away", "dns,temporal,garden", "--seconds", "5"];

test("a migration comes to the same end, whichever process is killed or away at whichever step", async () => {
  const command = join(import.meta.dirname, "main.ts");
  const options = [...choice, "--sample", String(SAMPLE), "--labs", "1"];
  const { stdout, stderr, exitCode } = await execa(process.execPath, [command, ...options], { reject: false });
  console.log(stdout);
  expect(exitCode, stderr || stdout).toBe(0);
  expect(stdout).toContain(`a blow fell in ${SAMPLE}; another outcome in 0`);
});

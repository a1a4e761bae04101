import { spawn } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { startControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const script = `
import { startControlPlane } from "${new URL("../support/control-plane.ts", import.meta.url).href}";
const { kubeconfigFile } = await startControlPlane();
console.log(kubeconfigFile);
`;

test("a test run that is killed leaves no process behind, and its files go with the next run", async () => {
  const run = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  run.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
  await eventually(() => output.endsWith("\n"));
  const directory = dirname(output.trim());
  const children = await readFile(`${directory}/children`, "utf8");
  const pids = children
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0]);
  expect(pids).toHaveLength(2);

  run.kill("SIGKILL");
  for (const pid of pids) {
    const state = () =>
      readFile(`/proc/${pid}/stat`, "utf8").then(
        (stat) => stat.split(") ")[1]?.[0],
        () => "gone",
      );
    await eventually(async () => ["gone", "Z"].includes((await state()) ?? "gone"));
  }
  const next = await startControlPlane();
  await expect(access(directory)).rejects.toThrow("ENOENT");
  await next.stop();
});

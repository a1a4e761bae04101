import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { untilEnd } from "./child.ts";
import type { Project } from "./projects.ts";
import { countTests, type Counts } from "./report.ts";

const root = join(import.meta.dirname, "../..");

/** A project and how to run its tests. */
export interface ProjectRun {
  readonly project: Project;
  /** Arguments passed on to vitest. */
  readonly rest: readonly string[];
  /** Another project runs at the same time: each line starts with the project's name, and timeouts are longer. */
  readonly parallel: boolean;
}

/** Runs the tests of a project in their own process and counts them from vitest's JSON report, not from its output. */
export async function runProject({ project, rest, parallel }: ProjectRun): Promise<Counts> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-test-report-"));
  try {
    const report = join(directory, "report.json");
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const reporters = [
      `--reporter=${join(import.meta.dirname, "reporter.ts")}`,
      "--reporter=json",
      "--silent=passed-only",
    ];
    const words = [vitest, "run", "--project", project, ...reporters, `--outputFile.json=${report}`, ...rest];
    const exit = await run(words, parallel ? `${project.padEnd(12)} ` : "");
    const chosen = rest.some((word) => /^(-t|--testNamePattern)(=|$)/.test(word));
    return countTests(await readFile(report, "utf8").catch(() => undefined), exit, chosen);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function run(words: readonly string[], prefix: string): Promise<number> {
  const isParallel = prefix !== "";
  const child = spawn(process.execPath, words, {
    stdio: ["ignore", isParallel ? "pipe" : "inherit", "inherit"],
    // API servers, which take a third of the processors' time, collect their garbage less often.
    env: { PERENNIAL_TEST_PATIENCE: isParallel ? "3" : "1", GOGC: "400", ...process.env },
  });
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on("line", (line) => console.log(`${prefix}${line}`));
  return await untilEnd(child);
}

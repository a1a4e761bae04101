import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stoppedBy, untilEnd } from "../../scripts/test/child.ts";
import type { NamedTest } from "../support/proofs.ts";

/** How a test ended. A test that its file's own failure kept from running has not failed: it says nothing about the promise. */
export type Ending = "passed" | "failed" | "did not run";

/** A run of a test, and the words of its failures. */
export interface Outcome {
  readonly ending: Ending;
  readonly words: readonly string[];
}

/** Whether only the test runs, or the tests of its file before it, too, on whose traces it may depend. */
export type Extent = "alone" | "with its file";

/** Runs one test of the tree in a folder, in a process of its own, which ends with ours. */
export async function runTest(folder: string, { path, name }: NamedTest, extent: Extent): Promise<Outcome> {
  const report = join(folder, "contradiction-report.json");
  rmSync(report, { force: true });
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const chosen = extent === "alone" ? ["--testNamePattern", `${patternOf(name)}$`] : [];
  await run(folder, [vitest, "run", path, ...chosen, "--reporter=json", `--outputFile=${report}`]);
  return outcomeOf(report, new RegExp(`^${patternOf(name)}$`));
}

/** The names that a name in a source stands for: vitest puts values in the place of `%s`, `$step` and `${…}`. */
export function patternOf(name: string): string {
  return name
    .split(/%[sdifjo]|\$\{[^}]*\}|\$[\w.]+/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join(".*");
}

function outcomeOf(report: string, pattern: RegExp): Outcome {
  const results = readReport(report)
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ title }) => pattern.test(title));
  const failed = results.filter(({ status }) => status === "failed");
  if (failed.length > 0) return { ending: "failed", words: failed.flatMap(({ failureMessages }) => failureMessages) };
  return { ending: results.some(({ status }) => status === "passed") ? "passed" : "did not run", words: [] };
}

interface FileResult {
  readonly assertionResults: readonly {
    readonly title: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

function readReport(path: string): readonly FileResult[] {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { testResults: readonly FileResult[] }).testResults;
  } catch (cause) {
    throw new Error(`${path}: the run of a test left no report`, { cause });
  }
}

async function run(folder: string, words: readonly string[]): Promise<void> {
  const env = { ...process.env, CI: "true", UPDATE_GOLDEN: undefined };
  await untilEnd(spawn(process.execPath, words, { cwd: folder, stdio: "ignore", env }));
  const signal = stoppedBy();
  if (signal !== undefined) throw new Stopped(`stopped by ${signal}`);
}

/** A signal has come: nothing more is run. */
export class Stopped extends Error {}

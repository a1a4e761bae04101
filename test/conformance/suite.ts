import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { ensureBinaries } from "../../src/local/binary/binaries.ts";
import type { Logger } from "../../src/log.ts";
import { readReport, type SuiteResult } from "./report.ts";

/** Which tests of the suite run, on which cluster. */
export interface SuiteRun {
  /** The administrator's. */
  readonly kubeconfig: string;
  /** Ginkgo's, over labels: the suite's tests have `Conformance`, `Serial`, `Slow` and others. */
  readonly labels: string;
  /** Regular expressions over names; all tests without one. */
  readonly focus?: readonly string[];
  /** How many run at a time. */
  readonly processes: number;
  /** Where reports go. */
  readonly folder: string;
  /** The report's name; an earlier one of this name is replaced. */
  readonly name: string;
  /** Images of which there is none. */
  readonly missing: readonly string[];
  /** In ms; tests that have not run by then have failed. */
  readonly timeout: number;
  /** Whether ginkgo's own words go to this terminal. */
  readonly verbose: boolean;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

/** Runs tests of Kubernetes' own suite and answers what came of them, also where the signal ended them; throws only where the suite cannot be started. */
export async function runSuite(run: SuiteRun): Promise<SuiteResult> {
  const { folder, name, timeout } = run;
  const binaries = await ensureBinaries(["ginkgo", "e2e.test", "kubectl"], { log: run.log, pinned: true });
  const report = join(folder, `${name}.json`);
  await rm(report, { force: true });
  const words = [
    ...["run", `--procs=${run.processes}`, `--timeout=${Math.round(timeout / 1_000)}s`, "--no-color"],
    ...["--silence-skips", `--label-filter=${run.labels}`, ...(run.focus ?? []).map((text) => `--focus=${text}`)],
    ...[`--json-report=${name}.json`, `--output-dir=${folder}`, binaries["e2e.test"], "--"],
    ...[`--kubeconfig=${run.kubeconfig}`, "--provider=skeleton", `--kubectl-path=${binaries.kubectl}`],
    "--disable-log-dump=true",
  ];
  const output = run.verbose ? "inherit" : "ignore";
  const stdio = { stdin: "ignore", stdout: output, stderr: output } as const;
  const running = execa(binaries.ginkgo, words, { ...stdio, cwd: folder, reject: false, detached: true });
  const stop = () => void endGroup(running.pid);
  run.signal?.addEventListener("abort", stop);
  await running.finally(() => run.signal?.removeEventListener("abort", stop));
  return readReport(await readFile(report, "utf8").catch(() => undefined), run.missing);
}

/** How long tests may take to leave, in ms: their clusters are taken away, so that they need not clean up. */
const LEAVE = 20_000;

/** Ends ginkgo and the processes that it runs tests in, which outlive it when it is ended alone. */
async function endGroup(leader: number | undefined): Promise<void> {
  if (leader === undefined) return;
  process.kill(-leader, "SIGTERM");
  await delay(LEAVE);
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // All have left.
  }
}

/** The names of the images that the suite may ask for. */
export async function listSuiteImages(log: Logger, tell: (message: string) => void): Promise<string[]> {
  const options = { log, pinned: true, onProgress: tell };
  const { "e2e.test": suite } = await ensureBinaries(["e2e.test", "ginkgo", "kubectl"], options);
  const { stdout } = await execa(suite, ["--list-images"], { stdin: "ignore" });
  return stdout.split("\n").filter((line) => line !== "");
}

/** A regular expression that matches this name and no longer one. */
export const exactly = (name: string): string => `${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

/**
 * Runs the projects of `scripts/test/projects.ts` for `npm test`, each in its own vitest process, and prints the total as the last line.
 * Binaries are built in the background. Projects that take an hour run only when they are named; `self-hosted` and `cluster-api` are
 * samples of `self-hosted-whole` and `cluster-api-whole`.
 *
 * Names of projects select them. `--parallel` runs the two lanes of projects in parallel; `--no-e2e` skips projects that need root;
 * `--changed`, or `--changed=COMMIT`, runs only the files that changes since that commit can affect. Other arguments go to vitest.
 */
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import { ensurePackages } from "../src/local/binary/packages.ts";
import type { BinaryName } from "../src/local/binary/versions.ts";
import { createLogger } from "../src/log.ts";
import { planTests, type TestPlan } from "./test/arguments.ts";
import { stoppedBy } from "./test/child.ts";
import { afterLanes, lanes, needs, orderBuilds, takes, takesRoot, type Project } from "./test/projects.ts";
import { testsReachedBy } from "./test/reach.ts";
import { explain, formatSum, repeat, slowest, type Counts } from "./test/report.ts";
import { runProject } from "./test/run-project.ts";

interface Outcome {
  readonly project: Project;
  readonly counts: Counts;
  readonly took: number;
}

process.exitCode = await main(planTests(process.argv.slice(2)));

async function main(plan: TestPlan): Promise<number> {
  const begun = performance.now();
  const busy = busyTime();
  const { chosen, files } =
    plan.since === undefined ? { chosen: plan.chosen, files: undefined } : reached(plan, plan.since);
  const getBinaries = createSupply(chosen);
  const running = (plan.parallel ? lanes : [lanes.flat()])
    .map((lane) => lane.filter((project) => chosen.includes(project)))
    .filter((lane) => lane.length > 0);
  const last: Project[] = afterLanes.filter((project) => chosen.includes(project));
  const parallel = plan.parallel && running.length + last.length > 1;
  const outcomes: Outcome[] = [];
  const runOne = async (project: Project) => {
    const started = performance.now();
    const rest = [...plan.rest, ...(files?.get(project) ?? [])];
    const counts = await tryProject(project, { rest, parallel, getBinaries });
    outcomes.push({ project, counts, took: performance.now() - started });
  };
  const runLane = async (lane: readonly Project[]) => {
    for (const project of lane) await runOne(project);
    for (let project = last.shift(); project !== undefined; project = last.shift()) await runOne(project);
  };
  await Promise.all((running.length > 0 ? running : [[]]).map(runLane));
  report(outcomes, plan);
  console.log(`${Math.round((performance.now() - begun) / 1_000)} s, processors ${Math.round(busy() * 100)} % busy`);
  console.log(formatSum(outcomes.map(({ counts }) => counts)));
  return outcomes.some(({ counts }) => counts.failed > 0) ? 1 : 0;
}

function report(outcomes: readonly Outcome[], { left }: TestPlan): void {
  console.log("\nslowest files:");
  for (const line of slowest(outcomes.map(({ counts }) => counts))) console.log(line);
  const again = outcomes.flatMap(({ project, counts }) => repeat(project, counts));
  if (again.length > 0) console.log("\nto repeat what failed:");
  for (const line of again) console.log(line);
  console.log();
  for (const line of left) console.log(line);
  for (const { project, counts, took } of outcomes) console.log(explain(project, counts, took));
}

interface Setup {
  readonly rest: readonly string[];
  readonly parallel: boolean;
  readonly getBinaries: (names: readonly BinaryName[]) => Promise<void>;
}

async function tryProject(project: Project, { rest, parallel, getBinaries }: Setup): Promise<Counts> {
  if (stoppedBy() !== undefined) return { passed: 0, failed: 1, note: "not run: a signal has ended this run" };
  console.log(`\n── ${project} ──`);
  try {
    refuseWithoutRoot(project, process);
    await getBinaries(needs[project]);
    await ensurePackages({ names: takes[project] ?? [], onProgress: console.log });
  } catch (error) {
    return { passed: 0, failed: 1, note: error instanceof Error ? error.message : String(error) };
  }
  return await runProject({ project, rest, parallel });
}

function refuseWithoutRoot(project: Project, { platform, getuid }: NodeJS.Process): void {
  if (!takesRoot.includes(project)) return;
  const way = "run the tests as root on Linux, or leave these out with `npm test -- --no-e2e`";
  if (platform !== "linux") throw new Error(`these tests make machines out of Linux namespaces: ${way}`);
  if (getuid?.() !== 0) throw new Error(`these tests make machines out of namespaces, which takes root: ${way}`);
}

/** Builds the binaries of these projects one after another, in the background; each project waits for those that it needs. */
function createSupply(chosen: readonly Project[]): Setup["getBinaries"] {
  const log = createLogger({ name: "test", level: "warn" });
  const got = new Map<BinaryName, Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  for (const name of orderBuilds(chosen)) {
    const next = last.then(() => ensureBinaries([name], { log, pinned: true, onProgress: console.log }));
    got.set(name, next);
    last = next.catch(() => undefined);
  }
  return async (names) => {
    for (const name of names) await got.get(name);
  };
}

/** Returns the projects and files that changes since this commit can affect, including uncommitted changes. */
function reached({ chosen }: TestPlan, since: string): { chosen: Project[]; files: Map<Project, string[]> } {
  const root = join(import.meta.dirname, "..");
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const changed = [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
  const tests = testsReachedBy(changed, { root, tests: globSync("test/**/*.test.ts", { cwd: root }) });
  const files = new Map(chosen.map((project) => [project, tests.filter((file) => file.startsWith(folderOf(project)))]));
  for (const [project, some] of files) console.log(`${project}: ${some.length} files can be affected`);
  return { chosen: chosen.filter((project) => (files.get(project) ?? []).length > 0), files };
}

function folderOf(project: Project): string {
  return `test/${project === "upstream-api" ? "upstream/api" : project}/`;
}

/** Measures the share of processor time used from now on. */
function busyTime(): () => number {
  const read = () => {
    const times = cpus().map(({ times: { idle, ...rest } }) => ({
      idle,
      work: Object.values(rest).reduce((a, b) => a + b),
    }));
    return {
      idle: times.reduce((sum, { idle }) => sum + idle, 0),
      work: times.reduce((sum, { work }) => sum + work, 0),
    };
  };
  const before = read();
  return () => {
    const after = read();
    const work = after.work - before.work;
    return work / Math.max(1, work + after.idle - before.idle);
  };
}

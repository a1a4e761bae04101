import { relative } from "node:path";

/** The results of a project's tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** The reason, where counts alone do not explain the result. */
  readonly note?: string;
  readonly files?: readonly TestFile[];
}

/** A test file, its duration in ms, and its failed tests. */
export interface TestFile {
  readonly path: string;
  readonly took: number;
  readonly failed: readonly Failure[];
}

/** The full name of a failed test, and the beginning of its error, which may have several lines. */
export interface Failure {
  readonly name: string;
  readonly reason: string;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly TestReport[];
}

interface TestReport {
  readonly status: string;
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly failureMessages?: readonly string[];
}

/**
 * The counts of a vitest JSON report and exit code. A file that could not be loaded, a skipped test and a run that failed
 * without a failed test (an unhandled error, no report, no test at all) each count as failures: nothing is lost. Where tests were `chosen` by their names, the others are not counted.
 */
export function countTests(json: string | undefined, exit: number, chosen = false): Counts {
  if (json === undefined) return { passed: 0, failed: 1, note: `vitest ended with ${exit} and left no report` };
  const report = JSON.parse(json) as Report;
  const broken = report.testResults.filter((file) => file.status === "failed" && !file.assertionResults.some(isFailed));
  const skipped = report.testResults.flatMap(({ assertionResults }) => assertionResults.filter(isSkipped));
  const left = chosen ? 0 : report.numPendingTests + report.numTodoTests;
  const counted = report.numFailedTests + broken.length + left;
  const passed = report.numPassedTests;
  const files = report.testResults.map(describe);
  if (counted > 0) return { passed, failed: counted, files, ...noteOn(broken, left, skipped) };
  if (exit !== 0) return { passed, failed: 1, files, note: `vitest ended with ${exit} though no test failed` };
  return passed > 0 ? { passed, failed: 0, files } : { passed, failed: 1, files, note: "no test ran" };
}

/** One line on a project, for people; `took` is ms. */
export function explain(project: string, { passed, failed, note }: Counts, took: number): string {
  const counts = `${passed} passed${failed > 0 ? `, ${failed} failed` : ""}`;
  return `${project.padEnd(12)} ${seconds(took).padStart(7)}  ${counts}${note ? `: ${note}` : ""}`;
}

/** The closing line that CI reads. */
export function formatSum(counts: readonly Counts[]): string {
  const sum = (pick: (count: Counts) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return `${sum((count) => count.passed)} passed, ${sum((count) => count.failed)} failed`;
}

/** The slowest files of a run, a line each. */
export function slowest(counts: readonly Counts[], most = 10): string[] {
  const files = counts.flatMap(({ files = [] }) => files).sort((a, b) => b.took - a.took);
  return files.slice(0, most).map(({ path, took }) => `${seconds(took).padStart(8)}  ${path}`);
}

/** Returns the reason of each failure, as comments, and the command that repeats it. */
export function repeat(project: string, { files = [] }: Counts): string[] {
  return files.flatMap(({ path, failed }) =>
    failed.flatMap(({ name, reason }) => [
      ...reason.split("\n").map((line) => `# ${line}`.trimEnd()),
      `npm test -- ${project} ${path} -t '${pattern(name).replaceAll("'", "'\\''")}'`,
    ]),
  );
}

/** Returns a regular expression for `-t` that matches only this name. */
const pattern = (name: string): string => `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

const describe = ({ name, startTime, endTime, assertionResults }: FileReport): TestFile => ({
  path: relative(process.cwd(), name),
  took: endTime - startTime,
  failed: assertionResults.filter(isFailed).map((test) => ({ name: nameOf(test), reason: reasonOf(test) })),
});

/** In characters. */
const LONGEST_REASON = 2_000;

/** Without the lines of the stack that follow: the whole of it is in the output above. */
function reasonOf({ failureMessages = [] }: TestReport): string {
  const [message = ""] = failureMessages
    .join("\n")
    .trim()
    .split(/\n\s+at /);
  return message.length > LONGEST_REASON ? `${message.slice(0, LONGEST_REASON)}…` : message;
}

function noteOn(broken: readonly FileReport[], left: number, skipped: readonly TestReport[]): { note?: string } {
  const notes = [
    ...broken.map(({ name }) => `${relative(process.cwd(), name)} failed outside its tests`),
    left > 0 ? `${left} tests did not run: ${skipped.map(nameOf).join(", ")}` : "",
  ].filter(Boolean);
  return notes.length > 0 ? { note: notes.join("; ") } : {};
}

/** Returns the full name, as vitest prints it and matches it against `-t`. */
const nameOf = ({ ancestorTitles, title }: TestReport): string => [...ancestorTitles, title].join(" > ");

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const isFailed = ({ status }: { status: string }): boolean => status === "failed";

const isSkipped = ({ status }: { status: string }): boolean => status !== "failed" && status !== "passed";

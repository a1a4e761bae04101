/** What became of a project's tests; the note says why where a count cannot. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly note?: string;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { name: string; status: string; assertionResults: readonly { status: string }[] }[];
}

/**
 * The counts of a vitest JSON report and exit code. A file that could not be loaded, a skipped test and a run that failed
 * without a failed test (an unhandled error, no report, no test at all) each count as failures: nothing is lost.
 */
export function countTests(json: string | undefined, exit: number): Counts {
  if (json === undefined) return { passed: 0, failed: 1, note: `vitest ended with ${exit} and left no report` };
  const report = JSON.parse(json) as Report;
  const broken = report.testResults.filter((file) => file.status === "failed" && !file.assertionResults.some(isFailed));
  const skipped = report.numPendingTests + report.numTodoTests;
  const counted = report.numFailedTests + broken.length + skipped;
  const passed = report.numPassedTests;
  if (counted > 0) return { passed, failed: counted, ...noteOn(broken.length, skipped) };
  if (exit !== 0) return { passed, failed: 1, note: `vitest ended with ${exit} though no test failed` };
  return passed > 0 ? { passed, failed: 0 } : { passed, failed: 1, note: "no test ran" };
}

/** One line on a project, for people. */
export function explain(project: string, { passed, failed, note }: Counts): string {
  return `${project.padEnd(8)} ${passed} passed${failed > 0 ? `, ${failed} failed` : ""}${note ? `: ${note}` : ""}`;
}

/** The closing line that CI reads. */
export function formatSum(counts: readonly Counts[]): string {
  const sum = (pick: (count: Counts) => number) => counts.reduce((total, count) => total + pick(count), 0);
  return `${sum((count) => count.passed)} passed, ${sum((count) => count.failed)} failed`;
}

function noteOn(broken: number, skipped: number): { note?: string } {
  const notes = [
    broken > 0 ? `${broken} files failed outside their tests` : "",
    skipped > 0 ? `${skipped} tests did not run` : "",
  ].filter(Boolean);
  return notes.length > 0 ? { note: notes.join("; ") } : {};
}

function isFailed({ status }: { status: string }): boolean {
  return status === "failed";
}

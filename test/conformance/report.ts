/** A test of the suite, and the first lines of why it failed. */
export interface FailedTest {
  readonly name: string;
  readonly reason: string;
}

/** What came of a run of the suite. */
export interface SuiteResult {
  /** Names. */
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
  /** The names of the tests that failed while an image was missing, by image. */
  readonly unrunnable: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads ginkgo's JSON report. A test that was chosen and did not pass has failed: also one that left itself out, or that was interrupted. A
 * suite that failed outside its tests, or left no report, counts as one failure: nothing is lost. A failed test is not runnable if its report
 * says that one of the `missing` images could not be pulled.
 */
export function readReport(json: string | undefined, missing: readonly string[]): SuiteResult {
  const suites = json === undefined ? [] : (JSON.parse(json) as readonly SuiteReport[]);
  const specs = suites.flatMap(({ SpecReports }) => SpecReports ?? []).filter(wasChosen);
  const passed = specs.filter((spec) => spec.LeafNodeType === "It" && spec.State === "passed").map(nameOf);
  const failed: FailedTest[] = [];
  const unrunnable = new Map<string, string[]>();
  for (const spec of specs.filter(({ State }) => State !== "passed")) {
    const image = missingImage(spec, missing);
    if (image === undefined) failed.push({ name: nameOf(spec), reason: reasonOf(spec) });
    else unrunnable.set(image, [...(unrunnable.get(image) ?? []), nameOf(spec)]);
  }
  if (failed.length === 0) failed.push(...failedAsAWhole(suites));
  return { passed, failed, unrunnable };
}

/** The results of runs that follow one another, as one. One of them may have no test to run; where none has, that is a failure. */
export function joinResults(results: readonly SuiteResult[]): SuiteResult {
  const passed = results.flatMap((result) => result.passed);
  const failed = results.flatMap((result) => result.failed);
  const unrunnable = new Map<string, readonly string[]>();
  for (const [image, names] of results.flatMap((result) => [...result.unrunnable]))
    unrunnable.set(image, [...(unrunnable.get(image) ?? []), ...names]);
  const ran = passed.length + failed.length + unrunnable.size;
  return { passed, failed: ran === 0 ? [{ name: SUITE, reason: "no test ran" }] : failed, unrunnable };
}

/** A line of a table for each cluster, then what failed and what could not run. */
export function renderResults(results: Readonly<Record<string, SuiteResult>>): string {
  const rows = Object.entries(results).map(([cluster, { passed, failed, unrunnable }]) => {
    const left = [...unrunnable.values()].flat().length;
    const counts = [passed.length, failed.length, left];
    return [cluster, ...counts, shareOf(passed.length + failed.length, left)];
  });
  const table = [["cluster", "passed", "failed", "not runnable", "runnable"], ...rows].map((cells) =>
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(12) : String(cell).padStart(13))).join(""),
  );
  const details = Object.entries(results).flatMap(([cluster, { failed, unrunnable }]) => [
    ...failed.flatMap(({ name, reason }) => [`${cluster}: failed: ${name}`, indent(reason)]),
    ...[...unrunnable].flatMap(([image, names]) => [
      `${cluster}: not runnable without ${image}:`,
      ...names.map(indent),
    ]),
  ]);
  return [...table, ...(details.length > 0 ? ["", ...details] : [])].join("\n");
}

/** What of ginkgo's report is read here (ginkgo/v2/types.Report). */
interface SuiteReport {
  readonly SuiteSucceeded: boolean;
  readonly SpecialSuiteFailureReasons?: readonly string[] | null;
  readonly SpecReports?: readonly SpecReport[] | null;
}

interface SpecReport {
  readonly ContainerHierarchyTexts?: readonly string[] | null;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly Failure?: { readonly Message?: string };
  readonly CapturedGinkgoWriterOutput?: string;
  readonly CapturedStdOutErr?: string;
}

/** What the filters left out is in the report, too, without a reason. */
const wasChosen = ({ State, Failure }: SpecReport): boolean =>
  State !== "pending" && (State !== "skipped" || Failure !== undefined);

const nameOf = ({ ContainerHierarchyTexts, LeafNodeText, LeafNodeType }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" ").trim() || LeafNodeType;

/** In lines. */
const LONGEST_REASON = 6;

function reasonOf({ State, Failure }: SpecReport): string {
  const lines = (Failure?.Message ?? "").split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, LONGEST_REASON).join("\n");
  return State === "failed" ? shown : `${State}: ${shown}`;
}

function missingImage(
  { Failure, CapturedGinkgoWriterOutput = "", CapturedStdOutErr = "" }: SpecReport,
  missing: readonly string[],
): string | undefined {
  const said = [Failure?.Message ?? "", CapturedGinkgoWriterOutput, CapturedStdOutErr].join("\n");
  const pulled = [...said.matchAll(/pull(?:ing)? image \\*"([^"\\]+)/g)].map(([, image]) => image);
  return missing.find((image) => pulled.includes(image));
}

function failedAsAWhole(suites: readonly SuiteReport[]): FailedTest[] {
  if (suites.length === 0) return [{ name: SUITE, reason: "it left no report" }];
  const broken = suites.filter(({ SuiteSucceeded }) => !SuiteSucceeded);
  const reasons = broken.flatMap(({ SpecialSuiteFailureReasons }) => SpecialSuiteFailureReasons ?? []);
  return reasons.length > 0 ? [{ name: SUITE, reason: reasons.join("\n") }] : [];
}

/** What failed where no test did. */
const SUITE = "the suite";

function shareOf(runnable: number, left: number): string {
  const all = runnable + left;
  return all === 0 ? "-" : `${((100 * runnable) / all).toFixed(1)} %`;
}

const indent = (text: string): string =>
  text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

import { relative } from "node:path";
import { DefaultReporter, type TestModule, type TestSpecification } from "vitest/node";

/** Vitest's default reporter with one line per file and the progress of the run: `[ 12/80] ok kube/admission.test.ts, 40 tests, 10.1 s`. */
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #done = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    super.onTestRunStart(specifications);
  }

  protected override printTestModule(module: TestModule): void {
    this.#done += 1;
    const tests = [...module.children.allTests()];
    const seconds = tests.reduce((sum, test) => sum + (test.diagnostic()?.duration ?? 0), 0) / 1_000;
    const at = `[${String(this.#done).padStart(String(this.#files).length)}/${this.#files}]`;
    const verdict = module.ok() ? "ok" : "FAILED";
    this.log(`${at} ${verdict} ${relative("test", module.moduleId)}, ${tests.length} tests, ${seconds.toFixed(1)} s`);
    for (const test of tests) if (test.result().state === "failed") this.log(`    failed: ${test.fullName}`);
  }
}

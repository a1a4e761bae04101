import { describe, expect, test } from "vitest";
import { countTests, explain, formatSum } from "../../../scripts/test-report.ts";

describe("the sum of a test run", () => {
  test("counts what passed and what failed", () => {
    expect(countTests(report({ numPassedTests: 3, numFailedTests: 2 }), 1)).toEqual({ passed: 3, failed: 2 });
  });

  test("counts a file that could not be loaded as a failure", () => {
    const testResults = [{ name: "a.test.ts", status: "failed", assertionResults: [] }];
    expect(countTests(report({ numPassedTests: 3, testResults }), 1)).toMatchObject({ passed: 3, failed: 1 });
  });

  test("counts a file whose hooks failed after its tests passed as a failure", () => {
    const testResults = [{ name: "a.test.ts", status: "failed", assertionResults: [{ status: "passed" }] }];
    expect(countTests(report({ numPassedTests: 1, testResults }), 1)).toMatchObject({ passed: 1, failed: 1 });
  });

  test("counts a skipped test as a failure", () => {
    expect(countTests(report({ numPassedTests: 3, numPendingTests: 1 }), 0)).toMatchObject({ passed: 3, failed: 1 });
  });

  test("counts an unhandled error as a failure", () => {
    expect(countTests(report({ numPassedTests: 3 }), 1)).toMatchObject({ passed: 3, failed: 1 });
  });

  test("counts a run without a report, and one without tests, as failures", () => {
    expect(countTests(undefined, 137)).toMatchObject({ passed: 0, failed: 1 });
    expect(countTests(report({}), 0)).toMatchObject({ passed: 0, failed: 1 });
  });

  test("ends in one line that machines read", () => {
    expect(
      formatSum([
        { passed: 3, failed: 0 },
        { passed: 1, failed: 2 },
      ]),
    ).toBe("4 passed, 2 failed");
  });

  test("says per project what happened, and why", () => {
    expect(explain("e2e", { passed: 0, failed: 1, note: "no root" })).toBe("e2e      0 passed, 1 failed: no root");
  });
});

function report(over: object): string {
  const counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  return JSON.stringify({ ...counts, ...over });
}

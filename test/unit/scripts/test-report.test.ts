import { describe, expect, test } from "vitest";
import { countTests, explain, formatSum, repeat, slowest } from "../../../scripts/test/report.ts";

describe("the sum of a test run", () => {
  test("counts what passed and what failed", () => {
    expect(countTests(report({ numPassedTests: 3, numFailedTests: 2 }), 1)).toMatchObject({ passed: 3, failed: 2 });
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
    expect(explain("e2e", { passed: 0, failed: 1, note: "no root" }, 1_234)).toBe(
      "e2e            1.2 s  0 passed, 1 failed: no root",
    );
  });

  test("names what was skipped, and the files that failed outside their tests", () => {
    const testResults = [
      {
        name: "a.test.ts",
        status: "passed",
        assertionResults: [{ status: "skipped", ancestorTitles: ["a thing"], title: "is so" }],
      },
      { name: "b.test.ts", status: "failed", assertionResults: [] },
    ];
    const { note } = countTests(report({ numPassedTests: 1, numPendingTests: 1, testResults }), 1);
    expect(countTests(report({ numPassedTests: 1, numPendingTests: 1 }), 0, true)).toMatchObject({ failed: 0 });
    expect(note).toBe("b.test.ts failed outside its tests; 1 tests did not run: a thing > is so");
  });

  test("lists the slowest files, and of each failure the reason and how it is repeated", () => {
    const file = (name: string, ms: number, failed: readonly string[] = []) => ({
      ...{ name, status: "passed", startTime: 1_000, endTime: 1_000 + ms },
      assertionResults: failed.map((title) => ({
        ...{ status: "failed", ancestorTitles: ["b"], title },
        failureMessages: [`Error: ${"x".repeat(20)}\n\n${"y".repeat(3_000)}\n    at somewhere`],
      })),
    });
    const testResults = [
      file("test/kube/a.test.ts", 500),
      file("test/kube/b.test.ts", 1_500, ["its (first) row's state is so"]),
    ];
    const counts = countTests(report({ numPassedTests: 1, numFailedTests: 1, testResults }), 1);
    expect(slowest([counts], 1)).toEqual(["   1.5 s  test/kube/b.test.ts"]);
    expect(repeat("kube", counts)).toEqual([
      `# Error: ${"x".repeat(20)}`,
      "#",
      `# ${"y".repeat(1_971)}…`,
      "npm test -- kube test/kube/b.test.ts -t '^b > its \\(first\\) row'\\''s state is so$'",
    ]);
  });
});

function report(over: object): string {
  const counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  return JSON.stringify({ ...counts, ...over });
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { joinResults, readReport, renderResults } from "../../conformance/report.ts";

/** Taken from the report of a run of the suite on a Shoot, of which an image had been taken away; other tests and most lines are left out. */
const report = readFileSync(join(import.meta.dirname, "report.json"), "utf8");

describe("a report of Kubernetes' suite", () => {
  test("says what passed, and what failed and why; what the filters left out is neither", () => {
    const { passed, failed, unrunnable } = readReport(report, []);
    expect(passed).toEqual([PASSED]);
    expect(failed.map(({ name }) => name)).toEqual([FAILED, WITHOUT_IMAGE]);
    expect(failed[0]?.reason).toMatch(/^service is not reachable within 2m0s timeout on endpoint nodeport-test:80/);
    expect([...unrunnable]).toEqual([]);
  });

  test("says which test failed for want of an image that could not be built, by what the kubelet said", () => {
    const { failed, unrunnable } = readReport(report, [IMAGE, "registry.k8s.io/e2e-test-images/perl:5.26"]);
    expect(failed.map(({ name }) => name)).toEqual([FAILED]);
    expect([...unrunnable]).toEqual([[IMAGE, [WITHOUT_IMAGE]]]);
  });

  test("counts a test that left itself out as failed, with its reason", () => {
    const spec = {
      LeafNodeType: "It",
      LeafNodeText: "scales",
      State: "skipped",
      Failure: { Message: "one node only" },
    };
    expect(readReport(suiteOf([spec]), []).failed).toEqual([{ name: "scales", reason: "skipped: one node only" }]);
  });

  test("counts a suite that failed outside its tests as failed", () => {
    const spec = {
      LeafNodeType: "SynchronizedBeforeSuite",
      LeafNodeText: "",
      State: "failed",
      Failure: { Message: "no node" },
    };
    expect(readReport(suiteOf([spec]), []).failed).toEqual([{ name: "SynchronizedBeforeSuite", reason: "no node" }]);
    const late = [{ SuiteSucceeded: false, SpecialSuiteFailureReasons: ["Suite Timeout Elapsed"], SpecReports: [] }];
    expect(readReport(JSON.stringify(late), []).failed).toEqual([
      { name: "the suite", reason: "Suite Timeout Elapsed" },
    ]);
  });

  test("counts a run without a report, and runs none of which had a test, as failed", () => {
    expect(readReport(undefined, []).failed).toEqual([{ name: "the suite", reason: "it left no report" }]);
    const none = readReport(suiteOf([]), []);
    expect(joinResults([none, none]).failed).toEqual([{ name: "the suite", reason: "no test ran" }]);
    expect(joinResults([readReport(report, []), none])).toEqual(readReport(report, []));
  });
});

test("results of runs that follow one another are told as one, a line for each cluster, then each failure", () => {
  const result = readReport(report, [IMAGE]);
  const twice = joinResults([result, result]);
  expect(renderResults({ hosted: twice })).toBe(
    [
      "cluster            passed       failed not runnable     runnable",
      "hosted                  2            2            2       66.7 %",
      "",
      ...[FAILED, FAILED].flatMap((name) => [`hosted: failed: ${name}`, ...REASON.map((line) => `    ${line}`)]),
      `hosted: not runnable without ${IMAGE}:`,
      `    ${WITHOUT_IMAGE}`,
      `    ${WITHOUT_IMAGE}`,
    ].join("\n"),
  );
});

const suiteOf = (specs: readonly object[]): string => JSON.stringify([{ SuiteSucceeded: false, SpecReports: specs }]);

const IMAGE = "registry.k8s.io/e2e-test-images/nonewprivs:1.3";
const PASSED =
  "[sig-node] Pods should support retrieving logs from the container over websockets [NodeConformance] [Conformance]";
const FAILED = "[sig-network] Services should be able to create a functioning NodePort service [Conformance]";
const WITHOUT_IMAGE =
  "[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false [LinuxOnly] [NodeConformance] [Conformance]";
const REASON = ["service is not reachable within 2m0s timeout on endpoint nodeport-test:80 over TCP protocol"];

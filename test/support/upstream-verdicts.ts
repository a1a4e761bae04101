import { expect } from "vitest";
import type { Report } from "../../src/conformance/verify.ts";
import type { Findings, UpstreamSubject } from "./upstream-subjects.ts";

/** Fails where a report differs from what is known of the controller, in either direction. */
export function expectVerdicts(report: Report, { breaks = {}, unjudged }: UpstreamSubject): void {
  const found = (verdict: string) => report.clauses.filter((clause) => clause.verdict === verdict);
  const ids = (verdict: string) => found(verdict).map(({ id }) => id);
  expect(ids("failed").toSorted(), JSON.stringify(found("failed"), null, 1)).toEqual(idsOf(breaks));
  expect(ids("not judged").toSorted()).toEqual(idsOf(unjudged));
  expect(report.left).toEqual([]);
}

const idsOf = (findings: Findings): readonly string[] => Object.values(findings).flat().toSorted();

import { expect, test } from "vitest";
import { fieldWarnings } from "../../../src/admission/shoot/field-warnings.ts";
import { changedFields } from "../../../src/admission/shoot/forms.ts";

const warningsFor = (spec: unknown, old?: unknown) => fieldWarnings(changedFields(spec, old));

test("an ignored field is told once, above what is in it, and not where it has its default", () => {
  expect(warningsFor({ systemComponents: { nodeLocalDNS: { enabled: true } } })).toEqual([
    "spec.systemComponents: nothing acts on this field: system components have the same settings everywhere",
  ]);
  expect(warningsFor({ purpose: "evaluation", schedulerName: "default-scheduler" })).toEqual([]);
});

test("what a request leaves as it was is not told again", () => {
  const before = { purpose: "testing", monitoring: { alerting: {} } };
  expect(warningsFor({ ...before, region: "b" }, { ...before, region: "a" })).toEqual([]);
  expect(warningsFor({ ...before, purpose: "production" }, before)).toHaveLength(1);
});

import { expect, test } from "vitest";
import { fieldWarnings } from "../../../src/admission/shoot/field-warnings.ts";
import { changedFields } from "../../../src/admission/shoot/forms.ts";

const warningsFor = (spec: unknown, old?: unknown) => fieldWarnings(changedFields(spec, old));

test("a field is told to be unknown where it is, with the known one beside it that is spelt alike", () => {
  expect(warningsFor({ provider: { workers: [{ name: "a" }, { maxsurge: 1 }] } })).toEqual([
    "spec.provider.workers[1].maxsurge: unknown field (did you mean spec.provider.workers[1].maxSurge?), nothing acts on it",
  ]);
  expect(warningsFor({ zebra: 1 })).toEqual(["spec.zebra: unknown field, nothing acts on it"]);
});

test("what providers and users define themselves has no unknown fields", () => {
  const workers = [{ labels: { any: "thing" }, providerConfig: { any: { thing: true } } }];
  expect(warningsFor({ provider: { workers, infrastructureConfig: { any: "thing" } } })).toEqual([]);
});

test("an ignored field is told once, above what is in it, and not where it has its default", () => {
  expect(warningsFor({ systemComponents: { nodeLocalDNS: { enabled: true } } })).toEqual([
    "spec.systemComponents: nothing acts on this field: system components have the same settings everywhere",
  ]);
  expect(warningsFor({ purpose: "evaluation", schedulerName: "default-scheduler" })).toEqual([]);
});

test("what a request leaves as it was is not told again", () => {
  const before = { foo: 1, monitoring: { alerting: {} } };
  expect(warningsFor({ ...before, region: "b" }, { ...before, region: "a" })).toEqual([]);
  expect(warningsFor({ ...before, foo: 2 }, before)).toHaveLength(1);
});

test("a Shoot of nothing but unknown fields gets a few warnings", () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${"x".repeat(2000)}${n}`, n]));
  expect(warningsFor(many).join("").length).toBeLessThan(4096);
});

import { expect, test } from "vitest";
import type { InstallationRun } from "../../../src/api/registration/run.ts";
import { asksForTheSame } from "../../../src/workflows/installation/asked.ts";

const run: InstallationRun = {
  ...{ name: "one", uid: "uid", operation: "Create", registration: "one", seedName: "seed-1", hash: "a" },
  ...{ seedExists: true, gardenAccess: false, seedDeadline: 60_000, retryDuration: 60_000 },
};

test("a run that has recorded its success is still asked for, and one that installs something else is not", () => {
  const now: InstallationRun = { ...run, operation: "Reconcile" };
  expect(asksForTheSame({ run: now, installed: true }, run)).toBe(true);
  expect(asksForTheSame({ run: { ...now, hash: "b" } }, run)).toBe(false);
  expect(asksForTheSame({ run: { ...run, operation: "Delete" } }, run)).toBe(false);
  expect(asksForTheSame(null, run)).toBe(false);
});

test("a removal goes on whatever is asked for to be installed, until its Seed goes or it becomes another's", () => {
  const removal: InstallationRun = { ...run, operation: "Delete" };
  expect(asksForTheSame({ run: { ...removal, hash: "b" } }, removal)).toBe(true);
  expect(asksForTheSame({ run: { ...removal, seedExists: false } }, removal)).toBe(false);
  expect(asksForTheSame({ run: { ...removal, replaced: true } }, removal)).toBe(false);
});

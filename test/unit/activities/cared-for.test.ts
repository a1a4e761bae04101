import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import { isCaredFor } from "../../../src/api/shoot/health.ts";

it.each([
  ["Create", "Processing", false],
  ["Create", "Error", false],
  ["Create", "Succeeded", true],
  ["Reconcile", "Processing", true],
  ["Migrate", "Processing", false],
  ["Migrate", "Failed", true],
  ["Restore", "Processing", false],
  ["Restore", "Error", true],
  ["Restore", "Failed", true],
  ["Restore", "Succeeded", true],
])("a Shoot's conditions follow its %s %s: %s", (type, state, expected) => {
  const lastOperation = { type, state, progress: 1, description: "", lastUpdateTime: "2026-01-01T00:00:00Z" };
  expect(isCaredFor({ status: { lastOperation } as Shoot["status"] })).toBe(expected);
});

it("the care of Shoots leaves one alone that has had no operation", () => {
  expect(isCaredFor({ status: {} })).toBe(false);
});

import { describe, expect, test } from "vitest";
import { ExtensionError } from "../../../src/extension/errors.ts";
import { mergePatch } from "../../../src/extension/merge-patch.ts";
import { actuatorStatus, errorStatus, processingStatus, succeededStatus } from "../../../src/extension/status.ts";
import { extensionObject } from "./extension-object.ts";

const now = new Date("2026-11-21T03:04:05.678Z");
const object = extensionObject({ generation: 7 });

describe("the status of an operation", () => {
  test("says Processing at 1 % without claiming the generation or touching an old error", () => {
    expect(processingStatus({ type: "Create", description: "Creating the Worker", at: now })).toEqual({
      lastOperation: {
        type: "Create",
        state: "Processing",
        progress: 1,
        description: "Creating the Worker",
        lastUpdateTime: "2026-11-21T03:04:05Z",
      },
    });
  });

  test("says Succeeded at 100 %, claims the generation and clears the error", () => {
    const status = succeededStatus(object, {
      type: "Reconcile",
      description: "Successfully reconciled Worker",
      at: now,
    });
    expect(status).toMatchObject({ observedGeneration: 7, lastError: null });
    expect(status["lastOperation"]).toMatchObject({
      state: "Succeeded",
      progress: 100,
      lastUpdateTime: "2026-11-21T03:04:05Z",
    });
  });

  test("says Error at 50 %, claims the generation and carries the codes of every cause", () => {
    const cause = new ExtensionError("quota", ["ERR_INFRA_QUOTA_EXCEEDED"]);
    const error = new AggregateError([
      new ExtensionError("no machines", ["ERR_INFRA_DEPENDENCIES"], { cause }),
      new Error("late"),
    ]);
    const status = errorStatus(object, { type: "Delete", description: "Error deleting Worker", at: now }, error);
    const description = "Error deleting Worker: no machines; late";
    expect(status).toMatchObject({
      observedGeneration: 7,
      lastOperation: { state: "Error", progress: 50, description },
    });
    expect(status["lastError"]).toMatchObject({
      description,
      codes: ["ERR_INFRA_DEPENDENCIES", "ERR_INFRA_QUOTA_EXCEEDED"],
      lastUpdateTime: "2026-11-21T03:04:05Z",
    });
  });

  test("removes the codes of an earlier error when the new one has none", () => {
    expect(
      errorStatus(object, { type: "Create", description: "Error", at: now }, new Error("x"))["lastError"],
    ).toMatchObject({ codes: null });
  });
});

describe("what an actuator reports", () => {
  test("replaces each field it names and leaves the others", () => {
    const before = { ...object, status: { providerStatus: { a: 1, b: { c: 2, d: 3 } }, state: { kept: true } } };
    expect(actuatorStatus(before, { providerStatus: { b: { d: 4 } } })).toEqual({
      providerStatus: { a: null, b: { c: null, d: 4 } },
    });
  });
});

describe("a merge patch", () => {
  test.each([
    [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }],
    [{ a: 1 }, {}, { a: null }],
    [{ a: [1, 2] }, { a: [2] }, { a: [2] }],
    [undefined, { a: {} }, { a: {} }],
    [{ a: { b: 1 } }, { a: { b: undefined } }, { a: { b: null } }],
  ])("from %j to %j is %j", (before, after, patch) => {
    expect(mergePatch(before, after)).toEqual(patch);
  });
});

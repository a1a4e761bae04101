import { describe, expect, test } from "vitest";
import { isTrigger } from "../../../src/extension/trigger.ts";
import { extensionObject, type Sketch } from "./extension-object.ts";

const done: Sketch = { last: ["Reconcile", "Succeeded"] };

describe("an object found when the process starts", () => {
  test.each<[string, Sketch, boolean]>([
    ["is left alone when its last operation succeeded", done, false],
    ["is taken up when nothing was done to it", {}, true],
    ["is taken up when its last operation failed", { last: ["Reconcile", "Error"] }, true],
    ["is taken up when its last operation was cut off", { last: ["Reconcile", "Processing"] }, true],
    ["is taken up when a reconcile is requested", { ...done, operation: "reconcile" }, true],
    ["is taken up when it is being deleted", { ...done, deleting: true }, true],
  ])("%s", (_, sketch, expected) => {
    expect(isTrigger({ type: "added", object: extensionObject(sketch) })).toBe(expected);
  });
});

describe("a change of an object", () => {
  test.each<[string, Sketch, Sketch, boolean]>([
    ["a new generation alone does not trigger", done, { ...done, generation: 2 }, false],
    ["a failure does not trigger", done, { last: ["Reconcile", "Error"] }, false],
    ["a request for a reconcile triggers", done, { ...done, operation: "reconcile" }, true],
    ["a request for a migration triggers", done, { ...done, operation: "migrate" }, true],
    ["a request for a restore triggers", done, { ...done, operation: "restore" }, true],
    ["waiting for a state does not trigger", done, { ...done, operation: "wait-for-state" }, false],
    ["the removal of a request does not trigger", { ...done, operation: "reconcile" }, done, false],
    [
      "status written while a request stands does not trigger",
      { last: ["Migrate", "Processing"], operation: "migrate" },
      { last: ["Migrate", "Succeeded"], operation: "migrate" },
      false,
    ],
    [
      "a request repeated at another time triggers",
      { ...done, operation: "migrate", timestamp: "2026-11-21T03:00:00.1Z" },
      { ...done, operation: "migrate", timestamp: "2026-11-21T03:00:00.2Z" },
      true,
    ],
    ["deletion triggers", done, { ...done, deleting: true }, true],
    [
      "status written while it is deleted does not trigger",
      { ...done, deleting: true },
      { last: ["Delete", "Error"], deleting: true },
      false,
    ],
  ])("%s", (_, old, object, expected) => {
    expect(isTrigger({ type: "updated", object: extensionObject(object), old: extensionObject(old) })).toBe(expected);
  });

  test("that removes it does not trigger", () => {
    expect(isTrigger({ type: "deleted", object: extensionObject({ deleting: true }) })).toBe(false);
  });
});

import { describe, expect, test } from "vitest";
import { decideOperation, type Decision } from "../../../src/extension/operation.ts";
import { extensionObject, type Sketch } from "./extension-object.ts";

const finalizer = "extensions.gardener.cloud/infrastructure";
const decide = (sketch: Sketch, o: { shootFailed?: boolean; revisit?: boolean } = {}): Decision =>
  decideOperation(extensionObject({ finalizers: [finalizer], ...sketch }), {
    finalizer,
    shootFailed: false,
    revisit: false,
    ...o,
  });

describe("the operation of an extension object", () => {
  test.each<[string, Sketch, string]>([
    ["nothing happened yet", {}, "Create"],
    ["a create is unfinished", { last: ["Create", "Processing"] }, "Create"],
    ["a create ended in an error", { last: ["Create", "Error"] }, "Create"],
    ["a create is unfinished, reconcile is requested", { last: ["Create", "Error"], operation: "reconcile" }, "Create"],
    ["a reconcile is requested", { last: ["Create", "Succeeded"], operation: "reconcile" }, "Reconcile"],
    ["a reconcile is unfinished", { last: ["Reconcile", "Error"] }, "Reconcile"],
    ["a migration is requested", { last: ["Reconcile", "Succeeded"], operation: "migrate" }, "Migrate"],
    ["a migration is unfinished", { last: ["Migrate", "Error"] }, "Migrate"],
    ["a migration is requested again", { last: ["Migrate", "Succeeded"], operation: "migrate" }, "Migrate"],
    ["a migrated object is restored", { last: ["Migrate", "Succeeded"], operation: "restore" }, "Restore"],
    ["a restore is requested of a new object", { operation: "restore" }, "Restore"],
    ["a restore is unfinished", { last: ["Restore", "Processing"] }, "Restore"],
    [
      "a restore is done, reconcile is requested",
      { last: ["Restore", "Succeeded"], operation: "reconcile" },
      "Reconcile",
    ],
    ["it is being deleted", { last: ["Reconcile", "Succeeded"], deleting: true }, "Delete"],
    ["it is being deleted, its create unfinished", { last: ["Create", "Error"], deleting: true }, "Delete"],
    ["it is being deleted, a deletion failed", { last: ["Delete", "Error"], deleting: true }, "Delete"],
    ["it is being deleted, a restore is requested", { operation: "restore", deleting: true }, "Delete"],
    ["it is being deleted, a migration is requested", { operation: "migrate", deleting: true }, "Migrate"],
  ])("%s", (_, sketch, run) => {
    expect(decide(sketch)).toEqual({ run });
  });
});

describe("an extension object is left alone when", () => {
  test.each<[string, Sketch, boolean, string]>([
    ["it waits for its state", { operation: "wait-for-state" }, false, "waiting for state"],
    [
      "it waits for its state and is deleted",
      { operation: "wait-for-state", deleting: true },
      false,
      "waiting for state",
    ],
    ["its Shoot has failed", { operation: "reconcile" }, true, "shoot failed"],
    ["its Shoot has failed and it is to migrate", { operation: "migrate" }, true, "shoot failed"],
    ["its Shoot has failed and it is deleted", { deleting: true }, true, "shoot failed"],
    ["it has migrated", { last: ["Migrate", "Succeeded"] }, false, "already migrated"],
    [
      "it has migrated and is to reconcile",
      { last: ["Migrate", "Succeeded"], operation: "reconcile" },
      false,
      "already migrated",
    ],
    ["it has migrated and is deleted", { last: ["Migrate", "Succeeded"], deleting: true }, false, "already migrated"],
    ["it is deleted and nothing was made", { deleting: true, finalizers: ["other"] }, false, "no finalizer"],
  ])("%s", (_, sketch, shootFailed, skip) => {
    expect(decide(sketch, { shootFailed })).toEqual({ skip });
  });

  test("its last operation succeeded and no new one is requested, unless its actuator wanted to see it again", () => {
    expect(decide({ last: ["Restore", "Succeeded"] })).toEqual({ skip: "nothing asked" });
    expect(decide({ last: ["Restore", "Succeeded"] }, { revisit: true })).toEqual({ run: "Reconcile" });
  });
});

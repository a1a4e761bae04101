import { describe, expect, it } from "vitest";
import type { OperationStatus } from "../../../src/activities/index.ts";
import { beginningStory, flipStory, progressStory } from "../../../src/activities/shoot/story.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { shootRun } from "../../support/shoot-run.ts";

type Status = NonNullable<Shoot["status"]>;

const run = shootRun({ operation: "Reconcile", generation: 2 });
const time = "2026-01-01T00:00:00Z";
const after = (
  state: "Processing" | "Error" | "Failed" | "Succeeded",
  lastErrors: Status["lastErrors"] = [],
): Status => ({
  observedGeneration: 2,
  lastOperation: { type: "Reconcile", state, progress: 1, description: "-", lastUpdateTime: time },
  lastErrors,
});
const error = { taskID: "worker", description: "quota is used up", codes: [], lastUpdateTime: time };
const report = (status: Partial<OperationStatus>): OperationStatus => ({
  ...{ state: "Processing", progress: 40, description: "waiting for a retry of worker", lastErrors: [] },
  ...status,
});
const reasons = (chapters: readonly { reason: string }[]) => chapters.map(({ reason }) => reason);

describe("the story of a Shoot", () => {
  it.each([
    ["Create", "Reconciling"],
    ["Restore", "Reconciling"],
    ["Delete", "Deleting"],
    ["Migrate", "PrepareMigration"],
  ] as const)("begins a %s with %s, as upstream does", (operation, reason) => {
    expect(beginningStory({ ...run, operation }, {})).toEqual([
      { reason, note: `${operation} has begun in Seed seed-1` },
    ]);
  });

  it("does not say again that an operation begins which was cut off, but says it for another spec", () => {
    expect(beginningStory(run, after("Processing"))).toEqual([]);
    expect(reasons(beginningStory({ ...run, generation: 3 }, after("Processing")))).toEqual(["Reconciling"]);
    expect(reasons(beginningStory(run, after("Failed")))).toEqual(["Reconciling"]);
  });

  it("says when a Shoot goes to sleep and when it wakes up", () => {
    const asleep = { ...run, hibernated: true };
    expect(reasons(beginningStory(asleep, after("Succeeded")))).toEqual(["Reconciling", "Hibernating"]);
    expect(reasons(beginningStory(asleep, { ...after("Succeeded"), hibernated: true }))).toEqual(["Reconciling"]);
    expect(reasons(beginningStory(run, { ...after("Succeeded"), hibernated: true }))).toEqual([
      "Reconciling",
      "WakingUp",
    ]);
  });

  it("says once what keeps a step waiting, and again only of another cause", () => {
    const delayed = report({ state: "Error", lastErrors: [error], delayed: ["worker"] });
    expect(progressStory(run, after("Processing"), delayed)).toEqual([
      { type: "Warning", reason: "StepDelayed", note: "Step worker goes on waiting: quota is used up" },
    ]);
    expect(progressStory(run, after("Error", [error]), delayed)).toEqual([]);
    const other = { ...error, description: "node a: NotReady" };
    expect(reasons(progressStory(run, after("Error", [error]), { ...delayed, lastErrors: [other] }))).toEqual([
      "StepDelayed",
    ]);
  });

  it("names each step that parks with its error, once, and says when nothing goes on any more", () => {
    const parked = report({ state: "Failed", lastErrors: [error], parked: ["worker"] });
    expect(progressStory(run, after("Processing"), parked)).toEqual([
      { type: "Warning", reason: "StepParked", note: "Step worker waits for a retry: quota is used up" },
      { type: "Warning", reason: "ReconcileError", note: "Reconcile cannot go on: waiting for a retry of worker" },
    ]);
    expect(progressStory(run, after("Failed", [error]), parked)).toEqual([]);
    const again = { ...parked, lastErrors: [{ ...error, lastUpdateTime: "2026-01-01T01:00:00Z" }] };
    expect(reasons(progressStory(run, after("Error", [error]), again))).toEqual(["StepParked", "ReconcileError"]);
  });

  it("says nothing of a step that tries again by itself, nor of progress", () => {
    expect(progressStory(run, after("Processing"), report({ state: "Error", lastErrors: [error] }))).toEqual([]);
    expect(progressStory(run, after("Processing"), report({}))).toEqual([]);
  });

  it("says which step goes on, and how it ends", () => {
    const resumed = report({ lastErrors: [error], parked: ["worker"], resumed: "worker" });
    expect(progressStory(run, after("Failed", [error]), resumed)).toEqual([
      { reason: "StepResumed", note: "Step worker goes on" },
    ]);
    expect(progressStory(run, after("Processing"), report({ state: "Succeeded" }))).toEqual([
      { reason: "Reconciled", note: "Reconcile has succeeded in Seed seed-1" },
    ]);
  });

  it("tells a takeover from a flip", () => {
    const leadership = { record: "r", seed: "seed-2", epoch: 2, leaseSeconds: 60, previousSeed: "seed-1" };
    expect(flipStory(leadership)).toEqual({
      reason: "Flipped",
      note: "Seed seed-2 leads, no longer Seed seed-1: epoch 2",
    });
    expect(flipStory({ ...leadership, takeover: true })).toMatchObject({ type: "Warning", reason: "TakenOver" });
  });
});

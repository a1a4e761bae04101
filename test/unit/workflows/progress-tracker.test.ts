import { describe, expect, it } from "vitest";
import { defineFlow } from "../../../src/flow/flow.ts";
import { createProgressTracker } from "../../../src/workflows/progress-tracker.ts";
import { shootRun } from "../../support/shoot-run.ts";

const flow = defineFlow("Test", { a: { do: undefined }, b: { do: undefined }, c: { do: undefined, after: ["a"] } });
const tracker = () => createProgressTracker(flow, shootRun(), () => Date.parse("2026-01-01T00:00:00Z"));
const quota = { message: "quota is used up", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };

describe("the status that the progress tracker makes", () => {
  it("is Processing, with what runs as its description", () => {
    const one = tracker();
    one.become("a", "running");
    one.become("b", "done");
    expect(one.status()).toEqual({ state: "Processing", progress: 33, description: "a", lastErrors: [] });
  });
  it("is Error while a step is parked and another still runs, and Failed once nothing moves", () => {
    const one = tracker();
    one.become("a", "running");
    one.become("b", "running");
    one.fail("a", quota, 1);
    one.become("a", "parked");
    expect(one.status()).toMatchObject({ state: "Error", parked: ["a"] });
    one.become("b", "done");
    expect(one.status()).toMatchObject({
      state: "Failed",
      description: "waiting for a retry of a",
      lastErrors: [{ taskID: "a", description: "quota is used up", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] }],
    });
  });
  it("is Error, not Failed, while a step waits for its own next try", () => {
    const one = tracker();
    one.fail("a", quota, 1);
    one.become("a", "retrying");
    expect(one.status()).toMatchObject({ state: "Error", description: "retrying a" });
  });
  it("forgets a step's error when the step is done", () => {
    const one = tracker();
    one.fail("a", quota, 1);
    one.become("a", "done");
    expect(one.status().lastErrors).toEqual([]);
  });
  it("names a step that is told of trouble while it waits, until it fails, parks or is done", () => {
    const one = tracker();
    one.become("a", "running");
    one.fail("a", quota);
    expect(one.status()).toMatchObject({ state: "Error", delayed: ["a"] });
    one.fail("a", quota, 1);
    expect(one.status().delayed).toBeUndefined();
    one.fail("a", quota);
    one.become("a", "done");
    expect(one.status().delayed).toBeUndefined();
  });
  it("is Succeeded at the end", () => {
    const one = tracker();
    one.finish();
    expect(one.status()).toMatchObject({ state: "Succeeded", progress: 100, description: "Test finished" });
  });
});

import { ApplicationFailure } from "@temporalio/activity";
import { expect, test } from "vitest";
import { toFailure } from "../../../../src/activities/failure.ts";
import { InvalidInstallation, type Reason } from "../../../../src/activities/installation/invalid.ts";
import { failureOf } from "../../../../src/workflows/attempts.ts";

/** What the flow reads of it. */
function readByFlow(reason: Reason) {
  const failure = toFailure(new InvalidInstallation(reason, "why"));
  if (!(failure instanceof ApplicationFailure)) throw new Error("an activity's failure is Temporal's");
  return failureOf(failure);
}

test("a flow that finds objects in use looks again within a minute, however long they have been", () => {
  expect(readByFlow("ObjectsInUse")).toEqual({ message: "why", codes: [], retryable: true, within: 60_000 });
});

test("a registry that is away is asked after pauses that grow", () => {
  expect(readByFlow("OCIChartCannotBePulled")).toEqual({ message: "why", codes: [], retryable: true });
});

test("a chart that cannot be rendered waits for a change", () => {
  expect(readByFlow("ChartCannotBeRendered")).toMatchObject({ retryable: false });
});

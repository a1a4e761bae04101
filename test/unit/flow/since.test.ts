import { describe, expect, it } from "vitest";
import { defineFlow, runFlow, type Flow, type StepState } from "../../../src/flow/flow.ts";
import { additionsTo, tableOf } from "../../../src/flow/since.ts";

const work = "work";
const [march, june] = ["2027-03-01", "2027-06-01"] as const;

const flow = defineFlow("Test", {
  first: { do: work },
  added: { do: work, after: ["first"], since: march },
  addedLater: { do: work, after: ["added"], since: june },
  last: { do: work, after: ["first", "addedLater"] },
});

describe("a run that a later build takes over", () => {
  it("skips the rows that were added since it began, and counts them as done", async () => {
    expect(await states(tableOf(flow, undefined))).toMatchObject({
      added: "skipped",
      addedLater: "skipped",
      last: "done",
    });
    expect(await states(tableOf(flow, march))).toMatchObject({ added: "done", addedLater: "skipped", last: "done" });
  });

  it("skips nothing when its table was the newest", async () => {
    expect(additionsTo(flow)).toEqual([june, march]);
    expect(Object.values(await states(tableOf(flow, june)))).toEqual(["done", "done", "done", "done"]);
  });
});

async function states(flow: Flow<object, string>): Promise<Record<string, StepState>> {
  const found: Record<string, StepState> = {};
  await runFlow(flow, {}, { carryOut: async () => {}, onChange: (step, state) => void (found[step] = state) });
  return found;
}

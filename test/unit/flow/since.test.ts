import { describe, expect, it } from "vitest";
import { defineFlow, runFlow, type Flow, type StepState } from "../../../src/flow/flow.ts";
import { changesOf, tableOf } from "../../../src/flow/since.ts";

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
    expect(changesOf(flow)).toEqual([june, march]);
    expect(Object.values(await states(tableOf(flow, june)))).toEqual(["done", "done", "done", "done"]);
  });
});

describe("a row that came after others before", () => {
  const table = defineFlow("Test", {
    first: { do: work },
    slow: { do: work },
    moved: { do: work, after: ["first"], was: { until: march, after: ["slow"] } },
  });

  it("comes after those still in a run that began then", () => {
    expect(changesOf(table)).toEqual([march]);
    expect(tableOf(table, undefined).steps.get("moved")?.after).toEqual(["slow"]);
    expect(tableOf(table, march).steps.get("moved")?.after).toEqual(["first"]);
  });

  it("comes after those of its own day in each run, where it has moved more than once", () => {
    const twice = defineFlow("Test", {
      first: { do: work },
      second: { do: work },
      third: { do: work },
      moved: {
        ...{ do: work, after: ["third"] },
        was: [
          { until: june, after: ["second"] },
          { until: march, after: ["first"] },
        ],
      },
    });
    expect(changesOf(twice)).toEqual([june, march]);
    const after = (day?: typeof march | typeof june) => tableOf(twice, day).steps.get("moved")?.after;
    expect([after(), after(march), after(june)]).toEqual([["first"], ["second"], ["third"]]);
    const below = () =>
      defineFlow("Test", {
        first: { do: work },
        moved: {
          do: work,
          was: [
            { until: june, after: ["first"] },
            { until: march, after: ["last"] },
          ],
        },
        last: { do: work },
      });
    expect(below).toThrow('"moved" comes after "last"');
  });

  it("names only rows above it, then as now", () => {
    expect(() =>
      defineFlow("Test", { moved: { do: work, was: { until: march, after: ["slow"] } }, slow: { do: work } }),
    ).toThrow('"moved" comes after "slow"');
  });
});

async function states(flow: Flow<object, string>): Promise<Record<string, StepState>> {
  const found: Record<string, StepState> = {};
  await runFlow(flow, {}, { carryOut: async () => {}, onChange: (step, state) => void (found[step] = state) });
  return found;
}

import { describe, expect, it } from "vitest";
import { defineFlow, runFlow, type StepState } from "../../../src/flow/flow.ts";
import { percent } from "../../../src/flow/percent.ts";
import { sparedSteps } from "../../../src/flow/spared.ts";

const never = { text: "never", holds: () => false };
const flow = defineFlow("Test", {
  begin: { do: "work" },
  survey: { do: "look", after: ["begin"] },
  beside: { do: "work", after: ["begin"] },
  one: { do: "work", after: ["survey"] },
  two: { do: "work", after: ["survey"] },
  between: { do: "work", after: ["one"], when: [never] },
  last: { do: "work", after: ["between", "two"] },
  both: { do: "work", after: ["two", "beside"] },
});

describe("which steps a survey spares", () => {
  it.each([
    [[], []],
    [
      ["one", "two", "last"],
      ["one", "two", "last"],
    ],
    [["two", "last"], ["two"]], // `last` comes after `one`, through a step that is skipped
    [["one", "last"], ["one"]],
    [
      ["one", "two"],
      ["one", "two"],
    ],
    [["last"], []],
    [["begin", "beside", "survey"], []],
    [["two", "both"], ["two"]], // nobody looked at `beside`
  ])("finds %j settled: spares %j", (settled, spared) => {
    expect([...sparedSteps(flow, {}, { by: "survey", settled: new Set(settled) })]).toEqual(spared);
  });
});

describe("a flow that is told of steps with nothing to do", () => {
  it("does the others, each once those before it are done or settled, and is done in full", async () => {
    const states = new Map<string, StepState>();
    const ran: string[] = [];
    await runFlow(
      flow,
      {},
      {
        carryOut: async (_, step) => void ran.push(step),
        settled: (step) => ran.includes("survey") && ["one", "two"].includes(step),
        onChange: (step, state) => void states.set(step, state),
      },
    );
    expect(ran).toEqual(["begin", "survey", "beside", "last", "both"]);
    expect(states.get("one")).toBe("settled");
    expect(percent(states.values())).toBe(100);
  });
});

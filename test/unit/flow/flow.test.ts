import { describe, expect, it } from "vitest";
import { defineFlow, FlowError, runFlow, type Flow, type Step, type StepState } from "../../../src/flow/flow.ts";
import { planFlow } from "../../../src/flow/plan.ts";
import { percent } from "../../../src/flow/percent.ts";

/** What the steps of these tests do. */
type Work = (step: string) => Promise<void> | void;

const carryOut = async (work: Work, step: string) => work(step);
const done: Work = () => {};
const broken: Work = () => Promise.reject(new Error("broken"));
const never = { text: "never", holds: () => false };

async function outcome(flow: Flow<object, Work>, stopped?: () => boolean) {
  const states = new Map<string, StepState>();
  const options = { carryOut, onChange: (step: string, state: StepState) => void states.set(step, state) };
  const error = await runFlow(flow, {}, stopped ? { ...options, stopped } : options).catch((thrown: unknown) => thrown);
  return { states: Object.fromEntries(states), error };
}

describe("a flow", () => {
  it("blocks only what comes after a failed step, and names every failure", async () => {
    const { states, error } = await outcome(
      defineFlow("Test", {
        a: { do: broken },
        b: { do: done, after: ["a"] },
        c: { do: broken },
        d: { do: done },
        e: { do: done, after: ["b", "d"] },
      }),
    );
    expect(states).toEqual({ a: "failed", b: "blocked", c: "failed", d: "done", e: "blocked" });
    expect(error).toBeInstanceOf(FlowError);
    expect([...(error as FlowError).failures.keys()]).toEqual(["a", "c"]);
  });

  it("passes through a skipped step, which still waits for what is before it", async () => {
    const order: string[] = [];
    const note = (step: string) => void order.push(step);
    const flow = defineFlow("Test", {
      a: { do: note },
      b: { do: note, after: ["a"], when: [never] },
      c: { do: note, after: ["b"] },
    });
    expect((await outcome(flow)).states).toEqual({ a: "done", b: "skipped", c: "done" });
    expect(order).toEqual(["a", "c"]);
    expect(planFlow(flow, {})[1]).toEqual({ step: "b", after: ["a"], skipped: true, because: "only when never" });
  });

  it("begins nothing more once it is stopped", async () => {
    let stopped = false;
    const flow = defineFlow("Test", { a: { do: () => void (stopped = true) }, b: { do: done, after: ["a"] } });
    expect((await outcome(flow, () => stopped)).states).toEqual({ a: "done", b: "stopped" });
  });

  it("refuses a step that comes after one which is not above it", () => {
    const rows = { a: { do: done, after: ["b"] }, b: { do: done } } as Record<string, Step<object, Work>>;
    expect(() => defineFlow("Test", rows)).toThrow('Test: "a" comes after "b", which is not above it');
  });
});

describe("progress", () => {
  it.each<[StepState[], number]>([
    [[], 100],
    [["skipped"], 100],
    [["done", "running", "skipped"], 50],
    [["done", "done", "pending"], 66],
    [["failed", "blocked"], 0],
  ])("of %j is %i %%", (states, expected) => expect(percent(states)).toBe(expected));
});

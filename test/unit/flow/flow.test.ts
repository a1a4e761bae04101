import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineFlow, FlowError, runFlow, type Flow, type Step, type StepState } from "../../../src/flow/flow.ts";
import { planFlow } from "../../../src/flow/plan.ts";
import { percent } from "../../../src/flow/percent.ts";

const done = async () => {};
const broken = () => Promise.reject(new Error("broken"));
const never = { text: "never", holds: () => false };

async function outcome(flow: Flow<object>, stopped?: () => boolean) {
  const states = new Map<string, StepState>();
  const options = { onChange: (step: string, state: StepState) => void states.set(step, state) };
  const error = await runFlow(flow, {}, stopped ? { ...options, stopped } : options).catch((thrown: unknown) => thrown);
  return { states: Object.fromEntries(states), error };
}

describe("a flow", () => {
  it("blocks only what comes after a failed step, and names every failure", async () => {
    const { states, error } = await outcome(
      defineFlow("Test", {
        a: { run: broken },
        b: { run: done, after: ["a"] },
        c: { run: broken },
        d: { run: done },
        e: { run: done, after: ["b", "d"] },
      }),
    );
    expect(states).toEqual({ a: "failed", b: "blocked", c: "failed", d: "done", e: "blocked" });
    expect(error).toBeInstanceOf(FlowError);
    expect([...(error as FlowError).failures.keys()]).toEqual(["a", "c"]);
  });

  it("passes through a skipped step, which still waits for what is before it", async () => {
    const order: string[] = [];
    const note = async (_: object, step: string) => void order.push(step);
    const flow = defineFlow("Test", {
      a: { run: note },
      b: { run: note, after: ["a"], when: [never] },
      c: { run: note, after: ["b"] },
    });
    expect((await outcome(flow)).states).toEqual({ a: "done", b: "skipped", c: "done" });
    expect(order).toEqual(["a", "c"]);
    expect(planFlow(flow, {})[1]).toEqual({ step: "b", after: ["a"], skipped: true, because: "only when never" });
  });

  it("begins nothing more once it is stopped", async () => {
    let stopped = false;
    const flow = defineFlow("Test", { a: { run: async () => void (stopped = true) }, b: { run: done, after: ["a"] } });
    expect((await outcome(flow, () => stopped)).states).toEqual({ a: "done", b: "stopped" });
  });

  it("refuses a step that comes after one which is not above it", () => {
    const rows = { a: { run: done, after: ["b"] }, b: { run: done } } as Record<string, Step<object>>;
    expect(() => defineFlow("Test", rows)).toThrow('Test: "a" comes after "b", which is not above it');
  });

  it("does exactly the steps that have no failed step before them, whatever the graph", async () => {
    const graph = fc.array(fc.record({ fails: fc.boolean(), after: fc.array(fc.nat(30), { maxLength: 4 }) }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(graph, async (nodes) => {
        const ran: string[] = [];
        const rows: Record<string, Step<object>> = {};
        nodes.forEach(({ fails, after }, index) => {
          const above = [...new Set(after.filter((other) => other < index))].map((other) => `s${other}`);
          rows[`s${index}`] = {
            after: above,
            run: async (_, step) => {
              ran.push(step);
              if (fails) throw new Error(step);
            },
          };
        });
        await runFlow(defineFlow("Random", rows), {}).catch(() => {});
        const clean = (step: string): boolean =>
          (rows[step]?.after ?? []).every((before) => clean(before) && nodes[Number(before.slice(1))]?.fails === false);
        expect([...ran].sort()).toEqual(Object.keys(rows).filter(clean).sort());
      }),
      { numRuns: 300 },
    );
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

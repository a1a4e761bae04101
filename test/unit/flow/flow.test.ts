import { createHook } from "node:async_hooks";
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

  it("makes as many promises as it has steps, whatever the number of rows that wait meanwhile", async () => {
    const [few, many] = [await promisesOf(chain(20)), await promisesOf(chain(40))];
    expect(many - few).toBeLessThanOrEqual(few);
  });

  it("refuses a step that comes after one which is not above it", () => {
    const rows = { a: { do: done, after: ["b"] }, b: { do: done } } as Record<string, Step<object, Work>>;
    expect(() => defineFlow("Test", rows)).toThrow('Test: "a" comes after "b", which is not above it');
  });
});

/** Steps of which each comes after the one above it. */
function chain(length: number): Flow<object, Work> {
  const names = Array.from({ length }, (_, index) => `step-${index}`);
  const rows = names.map(
    (name, index) => [name, { do: done, after: names.slice(Math.max(0, index - 1), index) }] as const,
  );
  return defineFlow("Chain", Object.fromEntries<Step<object, Work>>(rows));
}

/** How many promises are made while the flow runs: the sandbox of workflows keeps a stack for each. */
async function promisesOf(flow: Flow<object, Work>): Promise<number> {
  let made = 0;
  const hook = createHook({ init: (_, type) => void (made += type === "PROMISE" ? 1 : 0) }).enable();
  await runFlow(flow, {}, { carryOut }).finally(() => hook.disable());
  return made;
}

describe("progress", () => {
  it.each<[StepState[], number]>([
    [[], 100],
    [["skipped"], 100],
    [["done", "running", "skipped"], 50],
    [["done", "done", "pending"], 66],
    [["failed", "blocked"], 0],
  ])("of %j is %i %%", (states, expected) => expect(percent(states)).toBe(expected));
});

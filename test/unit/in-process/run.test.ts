import { expect, test } from "vitest";
import { defineFlow } from "../../../src/flow/flow.ts";
import type { JournalEntry } from "../../../src/in-process/journal.ts";
import { ParkedError, runInProcess, type InProcessOptions, type StepChange } from "../../../src/in-process/run.ts";

type Work = () => Promise<void> | void;

const flow = defineFlow<Readonly<Record<string, unknown>>, string, "first" | "second" | "beside" | "never">("try", {
  first: { do: "first" },
  second: { do: "second", after: ["first"] },
  beside: { do: "beside" },
  never: { do: "never", when: [{ text: "it is asked for", holds: () => false }] },
});

/** A run on a clock that pauses set forward. */
function lab(work: Readonly<Record<string, Work>>, more: Partial<InProcessOptions<string>> = {}) {
  const lines: JournalEntry[] = [];
  const changes: StepChange[] = [];
  const pauses: number[] = [];
  let time = 0;
  const done = runInProcess(
    flow,
    {},
    {
      journal: { append: async (entry) => void lines.push(entry) },
      run: "a",
      carryOut: async (name) => void (await work[name]?.()),
      judge: (error) => ({
        message: (error as Error).message,
        codes: [],
        retryable: (error as Error).message.startsWith("passing"),
      }),
      retryDuration: 60_000,
      onChange: (change) => changes.push(change),
      signal: new AbortController().signal,
      now: () => time,
      pause: async (ms) => {
        pauses.push(ms);
        time += ms;
      },
      ...more,
    },
  );
  return { done, lines, changes, pauses, told: () => lines.map(({ step, state }) => `${step} ${state}`) };
}

function failing(times: number, message: string): Work {
  let left = times;
  return () => {
    left -= 1;
    if (left >= 0) throw new Error(message);
  };
}

test("each change of a step is a line of the journal, in its order, and a skipped step has one, too", async () => {
  const { done, told, lines } = lab({});
  await done;
  expect(told().filter((line) => !line.startsWith("beside"))).toEqual([
    "first running",
    "never skipped",
    "first done",
    "second running",
    "second done",
  ]);
  expect(lines[0]).toEqual({
    time: "1970-01-01T00:00:00.000Z",
    run: "a",
    flow: "try",
    step: "first",
    state: "running",
  });
});

test("a passing failure is tried again, with longer pauses, and its sentence is in the journal", async () => {
  const { done, lines, pauses } = lab({ first: failing(3, "passing cloud") });
  await done;
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
  expect(lines.find(({ state }) => state === "retrying")).toMatchObject({ attempt: 1, message: "passing cloud" });
});

test("what no try can mend parks: what comes after waits, the rest is done, and the error says which step and why", async () => {
  const { done, told } = lab({ first: failing(9, "no disk") });
  await expect(done).rejects.toThrow("try: step first cannot go on: no disk");
  await expect(done).rejects.toBeInstanceOf(ParkedError);
  expect(told()).toContain("beside done");
  expect(told()).toContain("second blocked");
  expect(told()).toContain("first parked");
});

test("a passing failure parks when its time is over", async () => {
  const { done, pauses } = lab({ first: failing(99, "passing cloud") });
  await expect(done).rejects.toThrow("step first cannot go on: passing cloud");
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
});

test("an interrupted run begins no further step, and ends with the reason", async () => {
  const controller = new AbortController();
  const { done, told } = lab({ first: () => controller.abort(new Error("Ctrl-C")) }, { signal: controller.signal });
  await expect(done).rejects.toThrow("Ctrl-C");
  expect(told()).toContain("second stopped");
});

test("a run that is interrupted in its last step, and ends that, is done", async () => {
  const controller = new AbortController();
  const { done } = lab({ second: () => controller.abort(new Error("Ctrl-C")) }, { signal: controller.signal });
  await done;
});

test("a step does nothing before its line is written", async () => {
  const begun: string[] = [];
  const { done } = lab(
    { first: () => void begun.push("first") },
    { journal: { append: () => Promise.reject(new Error("disk full")) } },
  );
  await expect(done).rejects.toThrow("try: step first cannot go on: disk full; step beside cannot go on: disk full");
  expect(begun).toEqual([]);
});

test("a step that parks says why, also where its line cannot be written any more", async () => {
  const lines: JournalEntry[] = [];
  const { done } = lab(
    { first: failing(9, "no disk") },
    {
      journal: {
        append: (entry) =>
          entry.state === "parked" ? Promise.reject(new Error("disk full")) : Promise.resolve(void lines.push(entry)),
      },
    },
  );
  await expect(done).rejects.toThrow("try: step first cannot go on: no disk");
  expect(lines.some(({ step, state }) => step === "beside" && state === "done")).toBe(true);
});

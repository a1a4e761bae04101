import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import { MOVING_GRACE } from "../../../src/cluster-api/endpoint/moving.ts";
import { createProber, type Prober } from "../../../src/cluster-api/endpoint/prober.ts";
import type { Serving } from "../../../src/cluster-api/endpoint/probe.ts";
import { createLogger } from "../../../src/log.ts";
import { endpointOf } from "../../support/cluster-endpoints.ts";
import { eventually } from "../../support/eventually.ts";

const key = { namespace: "fleet", name: "foo" };
const answers: Serving = { type: "Serving", status: "True", reason: "Answers", message: "answers" };
const refuses: Serving = {
  type: "Serving",
  status: "False",
  reason: "ConnectionRefused",
  message: "refuses connections",
};

const PERIOD = 1_000_000;

let endpoint: ClusterEndpoint | undefined;
let answer: Serving;
let moving: boolean;
let time: number;
let changes: number;
let prober: Prober;
let asked: number;

beforeEach(() => {
  [endpoint, answer, moving, time, changes, asked] = [endpointOf(), answers, false, 0, 0, 0];
  prober = newProber();
});
afterEach(() => prober.stop());

function newProber(): Prober {
  const made = createProber({
    endpoint: () => endpoint,
    trust: () => ({ ca: "", server: undefined }),
    moves: () => moving,
    onChange: () => void changes++,
    log: createLogger({ name: "test", level: "silent" }),
    period: PERIOD,
    now: () => time,
    probe: async () => (asked++, answer),
  });
  made.start();
  return made;
}

async function ask(): Promise<Serving | undefined> {
  const before = asked;
  prober.ask(key);
  await eventually(() => asked > before);
  await new Promise((resolve) => setImmediate(resolve));
  return prober.servingOf(endpointOf());
}

test("nothing is known of an endpoint before its first answer, and a change of the answer is told once", async () => {
  expect(prober.servingOf(endpointOf())).toBeUndefined();
  expect(await ask()).toEqual(answers);
  expect(await ask()).toEqual(answers);
  expect(changes).toBe(1);
  answer = refuses;
  expect(await ask()).toEqual(refuses);
  expect(changes).toBe(2);
});

test("while the control plane moves, a gap of less than 50 s leaves an endpoint as it was", async () => {
  await ask();
  [answer, moving, time] = [refuses, true, MOVING_GRACE - 1];
  expect(await ask()).toEqual({
    ...answers,
    reason: "Moving",
    message: "the control plane moves: refuses connections",
  });
  time = MOVING_GRACE + 1;
  expect(await ask()).toEqual(refuses);
});

test("a gap begins when the endpoint was last heard, not at the last question", async () => {
  await ask();
  [answer, moving, time] = [refuses, true, MOVING_GRACE - 1];
  await ask();
  [answer, time] = [answers, MOVING_GRACE];
  expect(await ask()).toEqual(answers);
  [answer, time] = [refuses, 2 * MOVING_GRACE - 1];
  expect(await ask()).toMatchObject({ status: "True", reason: "Moving" });
});

test("an endpoint is asked each few seconds while its control plane moves, so that the gap is measured", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    moving = true;
    prober.ask(key);
    await vi.advanceTimersByTimeAsync((3 * PERIOD) / 10);
    expect(asked).toBeGreaterThanOrEqual(3);
    moving = false;
    await vi.advanceTimersByTimeAsync(PERIOD / 10);
    const before = asked;
    await vi.advanceTimersByTimeAsync(PERIOD / 2);
    expect(asked).toBe(before);
  } finally {
    vi.useRealTimers();
  }
});

test("an endpoint whose control plane comes to another address while it moves is in the same gap", async () => {
  await ask();
  [answer, moving, time] = [refuses, true, MOVING_GRACE - 1];
  endpoint = endpointOf({ metadata: { generation: 2 } });
  prober.ask(key);
  await eventually(() => prober.servingOf(endpointOf({ metadata: { generation: 2 } }))?.reason === "Moving");
});

test("an endpoint that did not serve before the control plane moves is called so", async () => {
  answer = refuses;
  moving = true;
  expect(await ask()).toEqual(refuses);
});

test("a process that takes over goes by what the one before it wrote", async () => {
  const written = { ...answers, observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z" };
  endpoint = endpointOf({ status: { conditions: [written] } });
  expect(await ask()).toEqual(answers);
  expect(changes).toBe(0);
  await prober.stop();
  prober = newProber();
  [answer, moving] = [refuses, true];
  expect(await ask()).toMatchObject({ status: "True", reason: "Moving" });
});

test("what was heard of another generation, or of an endpoint that was made anew, counts for nothing", async () => {
  await ask();
  expect(prober.servingOf(endpointOf({ metadata: { generation: 2 } }))).toBeUndefined();
  expect(prober.servingOf(endpointOf({ metadata: { uid: "anew" } }))).toBeUndefined();
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import { MOVING_GRACE } from "../../../src/cluster-api/endpoint/moving.ts";
import { createProber, type Prober } from "../../../src/cluster-api/endpoint/prober.ts";
import type { Serving } from "../../../src/cluster-api/endpoint/probe.ts";
import type { Trust } from "../../../src/cluster-api/endpoint/trust.ts";
import { createLogger } from "../../../src/log.ts";
import { makeCertificates } from "../../support/certificates.ts";
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

function newProber({ now }: { readonly now: (() => number) | undefined } = { now: () => time }): Prober {
  const made = createProber({
    endpoint: () => endpoint,
    trust: () => ({ ca: "", server: undefined }),
    moves: () => moving,
    onChange: () => void changes++,
    log: createLogger({ name: "test", level: "silent" }),
    period: PERIOD,
    ...(now && { now }),
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
    const stopped = prober.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await stopped;
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

/** Lets the test's clock go on; questions that fall due are asked and answered. */
async function pass(time: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(time);
}

test.each([
  ["a tenth earlier", 0, 0.9],
  ["just then", 0.5, 1],
  ["a tenth later", 1, 1.1],
])(
  "an endpoint is asked again when its period is over, at most a tenth earlier or later: %s",
  async (_, chance, share) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const random = vi.spyOn(Math, "random").mockReturnValue(chance);
    try {
      prober.ask(key);
      await pass(0);
      for (let times = 1; times <= 3; times++) {
        await pass(PERIOD * share - 2);
        expect(asked).toBe(times);
        await pass(2);
        expect(asked).toBe(times + 1);
      }
    } finally {
      random.mockRestore();
      vi.useRealTimers();
    }
  },
);

test("an endpoint that is asked on a change is asked next a whole period after it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  try {
    prober.ask(key);
    await pass(PERIOD / 2);
    prober.ask(key);
    await pass(PERIOD - 1);
    expect(asked).toBe(2);
    await pass(1);
    expect(asked).toBe(3);
  } finally {
    random.mockRestore();
    vi.useRealTimers();
  }
});

test("a prober forgets an endpoint that is gone, and asks it no more", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const gone = endpointOf();
    prober.ask(key);
    await pass(0);
    expect(prober.servingOf(gone)).toEqual(answers);
    endpoint = undefined;
    await pass(2 * PERIOD);
    expect(prober.servingOf(gone)).toBeUndefined();
    expect(asked).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    const stopped = prober.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await stopped;
  }
});

test("a gap is not made longer or shorter by a wall clock that is set", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  await prober.stop();
  prober = newProber({ now: undefined });
  try {
    await ask();
    [answer, moving] = [refuses, true];
    vi.setSystemTime(Date.now() + 10 * MOVING_GRACE);
    expect(await ask()).toMatchObject({ status: "True", reason: "Moving" });
  } finally {
    const stopped = prober.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await stopped;
  }
});

test("an authority is made once for all questions, also for the next Trust with it, and anew for another", async () => {
  const authorities: unknown[] = [];
  let trust: Trust = { ca: "", server: undefined };
  const asking = createProber({
    ...{ endpoint: () => endpoint, trust: () => trust, moves: () => false, onChange() {}, period: PERIOD },
    log: createLogger({ name: "test", level: "silent" }),
    probe: async (_, given, { authorityOf } = {}) => (authorities.push(authorityOf?.(given)), answers),
  });
  asking.start();
  const { ca } = await makeCertificates();
  for (const count of [1, 2, 3, 4]) {
    if (count === 3) trust = { ...trust };
    if (count === 4) trust = { ...trust, ca };
    asking.ask(key);
    await eventually(() => authorities.length === count);
  }
  await asking.stop();
  const [first, ...others] = authorities;
  expect(first).toBeDefined();
  expect(others.map((one) => one === first)).toEqual([true, true, false]);
});

test("four hundred endpoints that answer, each just in time, delay no question to one that answers quickly", async () => {
  await prober.stop();
  vi.useFakeTimers();
  try {
    const slow = Array.from({ length: 400 }, (_, index) => ({ ...key, name: `slow-${index}` }));
    const begun: string[] = [];
    prober = createProber({
      endpoint: ({ name }) => endpointOf({ name, host: name }),
      trust: () => ({ ca: "", server: undefined }),
      moves: () => false,
      onChange: () => {},
      log: createLogger({ name: "test", level: "silent" }),
      now: () => Date.now(),
      async probe({ host }) {
        begun.push(host);
        if (host !== "foo") await new Promise((resolve) => setTimeout(resolve, 4_900));
        return answers;
      },
    });
    prober.start();
    for (const one of [key, ...slow]) prober.ask(one);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(slow.every(({ name }) => prober.servingOf(endpointOf({ name }))?.status === "True")).toBe(true);
    begun.length = 0;
    for (const one of [...slow, key]) prober.ask(one);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toContain("foo");
  } finally {
    const stopped = prober.stop();
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await stopped;
  }
});

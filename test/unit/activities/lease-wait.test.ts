import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { awaitLeases } from "../../../src/activities/leadership/lease-wait.ts";
import { seconds } from "../../support/patience.ts";

const run = { leaseSeconds: 0.2 };
const never = new AbortController().signal;

afterEach(() => void vi.useRealTimers());

/** How long a wait took, in ms of this process's monotonic clock. */
async function timed(wait: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await wait();
  return performance.now() - begin;
}

describe("the wait for leases", () => {
  test("takes two of them", async () => {
    const took = await timed(() => awaitLeases(run, never));
    expect(took).toBeGreaterThanOrEqual(400);
    expect(took).toBeLessThan(seconds(0.8));
  });

  test("is not shortened by a step of the wall clock", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const waiting = timed(() => awaitLeases({ leaseSeconds: 0.8 }, never)); // it looks at the clock every second
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await waiting).toBeGreaterThanOrEqual(1_600);
  });

  test("takes longer by what the clock stood still, as that of a suspended machine", async () => {
    const begin = performance.now();
    const now = () => Math.max(begin, performance.now() - 300);
    expect(await timed(() => awaitLeases(run, never, now))).toBeGreaterThanOrEqual(700);
  });

  test("begins anew with each call", async () => {
    const given = new AbortController();
    const first = awaitLeases(run, given.signal);
    await sleep(300);
    given.abort(new Error("the worker is shut down"));
    await expect(first).rejects.toThrow("the worker is shut down");
    expect(await timed(() => awaitLeases(run, never))).toBeGreaterThanOrEqual(400);
  });
});

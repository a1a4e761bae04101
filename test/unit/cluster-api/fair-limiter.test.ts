import { afterEach, expect, test, vi } from "vitest";
import { createLanes, QUICK, type Pace } from "../../../src/cluster-api/endpoint/lanes.ts";
import { createFairLimiter } from "../../../src/fair-limiter.ts";

afterEach(() => void vi.useRealTimers());

/** Work that is begun when it is its turn, and ends when it is told to. */
function newWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<void> => {
    begun.push(name);
    await new Promise<void>((end) => ends.set(name, end));
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settle();
  };
  return { begun, work, end };
}

const settle = async (): Promise<void> => {
  for (let at = 0; at < 10; at++) await Promise.resolve();
};

test("of pieces of work that wait, each name has its turn, and those of one name begin in order", async () => {
  const { begun, work, end } = newWork();
  const limit = createFairLimiter(1);
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) void limit(name.slice(0, 1), work(name));
  await settle();
  for (const name of ["a1", "a2", "b1", "c1", "a3", "b2"]) {
    expect(begun.at(-1)).toBe(name);
    await end(name);
  }
});

test("work that fails, or that leaves before its end, gives its place to one other", async () => {
  const limit = createFairLimiter(1);
  const { begun, work, end } = newWork();
  await expect(limit("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const early = newWork();
  void limit("a", async (leave) => {
    leave();
    await early.work("early")();
  });
  for (const name of ["b1", "b2"]) void limit("b", work(name));
  await settle();
  expect(begun).toEqual(["b1"]);
  await early.end("early");
  expect(begun).toEqual(["b1"]);
  await end("b1");
  expect(begun).toEqual(["b1", "b2"]);
});

const hang = (): Promise<never> => new Promise(() => {});

/** How long, in ms, a question of this kind waits behind so many of others that are never answered. */
async function waitBehind(
  others: { pace: Pace; namespace: string; count: number },
  own: { pace: Pace; namespace: string },
) {
  vi.useFakeTimers();
  const inLane = createLanes();
  for (let at = 0; at < others.count; at++) void inLane(others, hang);
  const begin = Date.now();
  let waited = Infinity;
  void inLane(own, async () => void (waited = Date.now() - begin));
  await vi.advanceTimersByTimeAsync(60_000);
  return waited;
}

test.each<[string, Pace, Pace]>([
  ["quick", "quick", "slow"],
  ["quick", "quick", "unheard"],
  ["unheard", "unheard", "slow"],
])("an endpoint that is %s waits for none of another pace", async (_, own, others) => {
  const behind = { pace: others, namespace: "fleet", count: 400 };
  expect(await waitBehind(behind, { pace: own, namespace: "fleet" })).toBe(0);
});

test("four hundred endpoints that were quick and are silent delay a quick one by seconds, those of another namespace by one", async () => {
  const silent = { pace: "quick", namespace: "crowd", count: 400 } as const;
  expect(await waitBehind(silent, { pace: "quick", namespace: "crowd" })).toBe(3 * QUICK);
  expect(await waitBehind(silent, { pace: "quick", namespace: "fleet" })).toBe(QUICK);
});

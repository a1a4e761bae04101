import type { WaitTarget } from "../index.ts";
import { ownWaiter } from "./registration.ts";
import type { Settler } from "./settler.ts";

/** What tells that something was reached; `waiter` names the activity that is to wait, of the calling activity's step by default. */
export interface SoonDeps {
  readonly hold: Settler["hold"];
  readonly isReached: (target: WaitTarget) => boolean;
  readonly waiter?: typeof ownWaiter;
  /** In ms: how long an activity looks at most. */
  readonly timeout?: number;
}

/**
 * In ms. Much of what a step waits for comes true within it: a record, a configuration, an address. Longer, and a stop would
 * wait for activities that only look; and a worker that dies meanwhile has the step act again, after ten seconds.
 */
const LOOK_TIMEOUT = 1_000;

/** How many activities look at the same time, at most; half of a worker's slots. The others answer at once. */
const MOST_LOOKING = 25;

/**
 * Has an activity that has changed objects look for a moment whether what its step waits for is reached. Then the step is
 * over, and an activity that waits, with its three events and a task of the flow, never begins. All targets are answered
 * with, or none: a wait is for as many objects as were registered for it.
 */
export function createSoon({ hold, isReached, waiter = ownWaiter, timeout = LOOK_TIMEOUT }: SoonDeps) {
  let looking = 0;
  return async (targets: readonly WaitTarget[]): Promise<WaitTarget[]> => {
    if (targets.length === 0) return [];
    const areReached = () => targets.every(isReached);
    if (areReached()) return [];
    if (looking >= MOST_LOOKING) return [...targets];
    looking += 1;
    const ended = Promise.withResolvers<void>();
    const release = hold(waiter(), ended.resolve);
    const timer = setTimeout(ended.resolve, timeout);
    try {
      await ended.promise;
      return areReached() ? [] : [...targets];
    } finally {
      clearTimeout(timer);
      looking -= 1;
      release(areReached());
    }
  };
}

/** The same activities, of which each that answers with what there is to wait for looks a moment first. */
export function lookingAMoment<Activities extends object>(
  activities: Activities,
  soon: (targets: readonly WaitTarget[]) => Promise<WaitTarget[]>,
): Activities {
  const wrapped = Object.entries(activities).map(
    ([name, activity]: [string, (...args: unknown[]) => Promise<unknown>]) => [
      name,
      async (...args: unknown[]) => {
        const answer = await activity(...args);
        return Array.isArray(answer) ? await soon(answer as WaitTarget[]) : answer;
      },
    ],
  );
  return Object.fromEntries(wrapped) as Activities;
}

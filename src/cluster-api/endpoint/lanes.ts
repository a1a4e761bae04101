import { createFairLimiter } from "../../fair-limiter.ts";

/**
 * How many questions of a lane are open at once. One that is not answered is given up after five seconds, so a lane of endpoints that never
 * answer asks some 1,500 of them a minute.
 */
const OPEN_AT_ONCE = 128;

/** In ms: what an endpoint takes longer for is slow. Its question leaves the lane of the quick ones then, and goes on beside it. */
export const QUICK = 1_000;

/** How an endpoint answered last: within {@link QUICK} ms, or later or not at all; or it was not asked yet. */
export type Pace = "quick" | "slow" | "unheard";

/** Runs a question about an endpoint of this namespace in the lane of its pace. */
export type Lanes = <Result>(
  o: { readonly pace: Pace; readonly namespace: string },
  question: () => Promise<Result>,
) => Promise<Result>;

/**
 * A lane for each pace: endpoints that answer quickly wait neither for slow ones, nor for those that were never asked, which a user may make
 * by the hundred at addresses where nothing answers. One that was quick and is slow now holds its place for {@link QUICK} ms. In each lane
 * namespaces take turns, so that how many endpoints one has, and how they answer, hardly delays another's.
 */
export function createLanes(): Lanes {
  const lanes: Readonly<Record<Pace, ReturnType<typeof createFairLimiter>>> = {
    quick: createFairLimiter(OPEN_AT_ONCE),
    slow: createFairLimiter(OPEN_AT_ONCE),
    unheard: createFairLimiter(OPEN_AT_ONCE),
  };
  return async ({ pace, namespace }, question) =>
    await lanes[pace](namespace, async (leave) => {
      const timer = pace === "quick" ? setTimeout(leave, QUICK) : undefined;
      try {
        return await question();
      } finally {
        clearTimeout(timer);
      }
    });
}

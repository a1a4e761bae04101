/** Runs a piece of work under a name once there is a place; `leave` gives its place to the next before it has ended. */
export type FairLimiter = <Result>(whose: string, work: (leave: () => void) => Promise<Result>) => Promise<Result>;

/**
 * Has so many pieces of work go on at once. Of those that wait, each name has its turn in the order in which it came to wait, and what waits
 * under one name begins in order: a thousand pieces under one name delay another's by one.
 */
export function createFairLimiter(most: number): FairLimiter {
  let free = most;
  const waiting = new Map<string, (() => void)[]>();

  function next(): void {
    const [whose, begins] = waiting.entries().next().value ?? [];
    if (whose === undefined || begins === undefined) return void (free += 1);
    const begin = begins.shift();
    waiting.delete(whose);
    if (begins.length > 0) waiting.set(whose, begins); // behind all others
    begin?.();
  }

  return async (whose, work) => {
    if (free > 0) free -= 1;
    else
      await new Promise<void>((begin) => {
        const own = waiting.get(whose) ?? [];
        own.push(begin);
        waiting.set(whose, own);
      });
    let stays = true;
    const leave = () => {
      if (stays) next();
      stays = false;
    };
    try {
      return await work(leave);
    } finally {
      leave();
    }
  };
}

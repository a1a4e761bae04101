/** Has at most so many pieces of work go on at once; the others wait, and begin in order. */
export function createLimiter(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

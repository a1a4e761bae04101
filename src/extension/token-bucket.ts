import { monotonicNow } from "../kube/index.ts";

/** How many operations may begin: so many a second over time, and so many at once after a quiet time. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Hands out tokens, one for each operation. */
export interface TokenBucket {
  /** Takes the next token; the answer is how many ms to wait before using it. */
  take(): number;
}

/** A bucket of `burst` tokens that fills by `perSecond`; tokens that are not there yet are promised in the order of asking. */
export function createTokenBucket({ perSecond, burst }: RateLimit, now: () => number = monotonicNow): TokenBucket {
  if (!(perSecond > 0) || !(burst >= 1))
    throw new Error(`a rate limit needs perSecond above 0 and a burst of at least 1, not ${perSecond} and ${burst}`);
  let tokens = burst;
  let at = now();
  return {
    take() {
      const time = now();
      tokens = Math.min(burst, tokens + ((time - at) / 1000) * perSecond);
      at = time;
      tokens -= 1;
      return tokens >= 0 ? 0 : Math.ceil((-tokens / perSecond) * 1000);
    },
  };
}

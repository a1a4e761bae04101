/** When a controller looks at an object again although nothing tells of it, in ms from now. */
export interface Again {
  readonly requeueAfter: number;
}

/** In so many ms, give or take a tenth, so that what began together does not go on together. Pure but for chance. */
export const againIn = (ms: number): Again => ({ requeueAfter: ms * (0.9 + Math.random() * 0.2) });

/** The soonest of several wishes; undefined where there is none. Pure. */
export function soonest(wishes: readonly (Again | void)[]): Again | undefined {
  const delays = wishes.flatMap((one) => (one ? [one.requeueAfter] : []));
  return delays.length === 0 ? undefined : { requeueAfter: Math.min(...delays) };
}

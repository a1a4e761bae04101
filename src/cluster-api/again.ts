/** When a controller looks at an object again although nothing tells of it, in ms from now. */
export interface Again {
  readonly requeueAfter: number;
}

/** In so many ms, give or take a tenth, so that what began together does not go on together. Pure but for chance. */
export const againIn = (ms: number): Again => ({ requeueAfter: ms * (0.9 + Math.random() * 0.2) });

/**
 * Does works one after the other, also where one before has failed: what one lacks is no reason to leave the others. Then throws the first
 * failure; else says when to look again, which is the soonest wish.
 */
export async function inTurn(works: readonly (() => Promise<Again | undefined | void>)[]): Promise<Again | undefined> {
  const failures: unknown[] = [];
  const delays: number[] = [];
  for (const work of works) {
    const again = await work().catch((error: unknown) => void failures.push(error));
    if (again) delays.push(again.requeueAfter);
  }
  if (failures.length > 0) throw failures[0];
  return delays.length === 0 ? undefined : { requeueAfter: Math.min(...delays) };
}

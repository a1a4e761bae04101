import { describe, expect, test } from "vitest";
import { createTokenBucket } from "../../../src/extension/token-bucket.ts";

describe("a token bucket", () => {
  const bucketAt = (perSecond: number, burst: number) => {
    const clock = { now: 1_000 };
    return { clock, ...createTokenBucket({ perSecond, burst }, () => clock.now) };
  };

  test("gives a burst at once, then one after the other, in the order of asking", () => {
    const { take } = bucketAt(2, 3);
    expect([take(), take(), take(), take(), take()]).toEqual([0, 0, 0, 500, 1_000]);
  });

  test("fills while it is left alone, up to the burst and no further", () => {
    const { take, clock } = bucketAt(2, 3);
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    clock.now += 1_000;
    expect([take(), take(), take()]).toEqual([0, 0, 500]);
    clock.now += 3_600_000;
    expect([take(), take(), take(), take()]).toEqual([0, 0, 0, 500]);
  });

  test.each([
    [0, 1],
    [1, 0],
    [NaN, 1],
  ])("cannot be of %d a second and %d at once", (perSecond, burst) => {
    expect(() => createTokenBucket({ perSecond, burst })).toThrow("a rate limit needs");
  });
});

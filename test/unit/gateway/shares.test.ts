import { describe, expect, it } from "vitest";
import { createRate, createShares } from "../../../src/gateway/shares.ts";

describe("a total that callers share", () => {
  it("gives one caller no more than half, at once or in parts", () => {
    const shares = createShares({ own: 100, total: 100 });
    expect(shares.take("one", 51)).toBe(false);
    expect(shares.take("one", 50)).toBe(true);
    expect(shares.take("one")).toBe(false);
    shares.give("one", 50);
    expect(shares.take("one", 25)).toBe(true);
    expect(shares.take("one", 26)).toBe(false);
    expect(shares.take("one", 25)).toBe(true);
  });

  it("gives a second caller no more than half of the rest", () => {
    const shares = createShares({ own: 100, total: 100 });
    shares.take("one", 50);
    expect(shares.take("two", 26)).toBe(false);
    expect(shares.take("two", 25)).toBe(true);
  });
});

describe("a rate that callers share", () => {
  it("lets a caller make the calls of one second at once, and further ones as time passes", () => {
    let time = 0;
    const rate = createRate({ own: 10, total: 15 }, () => time);
    expect([rate.take("one"), rate.take("one", 9), rate.take("one")]).toEqual([true, true, false]);
    time = 100;
    expect([rate.take("one"), rate.take("one"), rate.take("one")]).toEqual([true, false, false]);
    time = 1_099;
    expect([rate.take("one", 2), rate.take("one", 7), rate.take("one")]).toEqual([true, true, false]);
  });

  it("saves up no more than one second, and divides the total among those that called within it", () => {
    let time = 0;
    const rate = createRate({ own: 10, total: 15 }, () => time);
    rate.take("one");
    time = 999;
    expect([rate.take("one", 10), rate.take("one")]).toEqual([true, false]);
    expect([rate.take("two", 8), rate.take("two")]).toEqual([true, false]); // 7.5, which a larger cost uses up
    time = 2_500;
    expect([rate.take("one", 8), rate.take("one", 2), rate.take("one")]).toEqual([true, true, false]);
  });
});

import { describe, expect, it } from "vitest";
import { createShares } from "../../../src/gateway/shares.ts";

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

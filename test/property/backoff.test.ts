import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffDelay } from "../../src/kube/backoff.ts";

test("a delay doubles with each failure, with at most a quarter more, up to the longest", () => {
  fc.assert(
    fc.property(fc.nat(2_000), (failures) => {
      const least = Math.min(100 * 2 ** failures, 5_000);
      const delay = backoffDelay(failures, { first: 100, most: 5_000 });
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThanOrEqual(least * 1.25);
    }),
  );
});

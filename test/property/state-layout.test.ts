import fc from "fast-check";
import { expect, test } from "vitest";
import type { StateEntry } from "../../src/activities/state/entry.ts";
import { layOut, sizeOf, STATE_LIMITS } from "../../src/activities/state/layout.ts";

const entry = (name: string, size: number): StateEntry => ({
  section: "extensions",
  body: { kind: "Worker", type: "secret", name, state: { data: "x".repeat(size) } },
});

test("entries of a state are in one object each, and no object is too large, however they come and change", () => {
  const sizes = fc.array(fc.tuple(fc.nat(20), fc.nat(400_000)), { maxLength: 14 });
  const named = (list: [number, number][]) => [
    ...new Map(list.map(([name, size]) => [name, entry(String(name), size)])).values(),
  ];
  fc.assert(
    fc.property(sizes, sizes, (first, second) => {
      const entries = named(second);
      const parts = layOut(entries, layOut(named(first)));
      expect(
        parts
          .flat()
          .map(({ body }) => body["name"])
          .sort(),
      ).toEqual(entries.map(({ body }) => body["name"]).sort());
      for (const part of parts) {
        expect(part.reduce((sum, one) => sum + sizeOf(one), 0)).toBeLessThanOrEqual(STATE_LIMITS.partBytes);
      }
    }),
    { numRuns: 200 },
  );
});

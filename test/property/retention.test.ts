import fc from "fast-check";
import { expect, test } from "vitest";
import { expiredSnapshots } from "../../src/provider-local/backup/retention.ts";

const now = Date.UTC(2026, 0, 31, 12, 34);

test("the retention of backups never takes the newest 24, however old they are, and is done after one go", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: now }), { maxLength: 200 }), (times) => {
      const snapshots = times.map((takenAt, i) => ({ name: `s${i}`, takenAt }));
      const expired = new Set(expiredSnapshots(snapshots, now));
      const left = snapshots.filter((one) => !expired.has(one));
      const newest = times.toSorted((a, b) => b - a).slice(0, 24);
      expect(
        left
          .map(({ takenAt }) => takenAt)
          .toSorted((a, b) => b - a)
          .slice(0, 24),
      ).toEqual(newest);
      expect(expiredSnapshots(left, now)).toEqual([]);
    }),
  );
});

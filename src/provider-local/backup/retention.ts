import type { Snapshot } from "./buckets.ts";

/**
 * The snapshots that may be deleted: beyond the newest 24, one of each hour is kept for a day, and one of each day for
 * a week. Times are ms since the epoch. The newest of its hour or day stays, and so does each snapshot with one of
 * these names.
 */
export function expiredSnapshots<S extends Pick<Snapshot, "name" | "takenAt">>(
  snapshots: readonly S[],
  now: number,
  names: readonly string[] = [],
): S[] {
  const newestFirst = snapshots.toSorted((a, b) => b.takenAt - a.takenAt || (a.name < b.name ? -1 : 1));
  const kept = new Set([
    ...newestFirst.slice(0, NEWEST),
    ...newestOfEach(
      HOUR,
      newestFirst.filter(({ takenAt }) => now - takenAt <= DAY),
    ),
    ...newestOfEach(
      DAY,
      newestFirst.filter(({ takenAt }) => now - takenAt <= 7 * DAY),
    ),
  ]);
  return newestFirst.filter((snapshot) => !kept.has(snapshot) && !names.includes(snapshot.name));
}

const NEWEST = 24;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function newestOfEach<S extends Pick<Snapshot, "takenAt">>(span: number, newestFirst: readonly S[]): Iterable<S> {
  const spans = new Map<number, S>();
  for (const snapshot of newestFirst) {
    const begin = Math.floor(snapshot.takenAt / span);
    if (!spans.has(begin)) spans.set(begin, snapshot);
  }
  return spans.values();
}

import { SCHEDULE } from "../../components/index.ts";
import type { SnapshotRecord } from "./record.ts";

/** A file that the schedule has written; `takenAt` is RFC 3339, the minute for which it was planned. */
export type ScheduledSnapshot = Pick<SnapshotRecord, "name" | "takenAt">;

/**
 * Those of these files that are scheduled snapshots and newer than the one that is recorded, newest first. A file of any
 * other name says nothing of its age: it was put there by hand, or is recorded once it is good. So does one from after
 * `now`, in ms since the epoch.
 */
export function newerSnapshots(
  names: readonly string[],
  recorded: Pick<SnapshotRecord, "name" | "takenAt">,
  now: number,
): ScheduledSnapshot[] {
  const since = minuteOf(recorded.name) ?? Date.parse(recorded.takenAt) / MINUTE;
  return [...new Set(names)]
    .flatMap((name) => {
      const minute = minuteOf(name);
      return minute === undefined || minute <= since || minute * MINUTE > now + TOLERANCE ? [] : [{ name, minute }];
    })
    .sort((a, b) => b.minute - a.minute || (a.name < b.name ? -1 : 1))
    .map(({ name, minute }) => ({ name, takenAt: `${new Date(minute * MINUTE).toISOString().slice(0, 19)}Z` }));
}

/** In ms. */
const MINUTE = 60_000;

/** In ms: how far the clock of a seed that has written a snapshot may be ahead of ours. */
const TOLERANCE = 3_600_000;

/** As Kubernetes names a CronJob's Jobs, by the minute that they are planned for, and then their pods. */
const scheduled = new RegExp(`^${SCHEDULE}-([0-9]{8})-[a-z0-9]{5}\\.db$`);

/** Minutes since 1970; undefined for what no schedule has named. */
function minuteOf(name: string): number | undefined {
  const minute = scheduled.exec(name)?.[1];
  return minute === undefined ? undefined : Number(minute);
}

/** The length of time as kubectl writes it: two units at most, 3s, 5m12s, 4h, 3d2h. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return joined(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return joined(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return joined(days, "d", hours % 24, "h");
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`;
}

/** The time since an ISO time, or `<unknown>` when there is none. */
export function formatAge(time: string | undefined, now: number): string {
  const then = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(then) ? "<unknown>" : formatDuration(now - then);
}

/** For how long something has been so, and since when: `for 72s (since TIME)`. */
export function formatSince(time: string, now: number): string {
  const age = formatAge(time, now);
  return `for ${age === NONE ? "less than a second" : age} (since ${time})`;
}

/** How long ago a time was, and the time itself: `72s ago (TIME)`, or `<unknown>` when there is none. */
export function formatAgo(time: string | undefined, now: number): string {
  if (time === undefined) return "<unknown>";
  const age = formatAge(time, now);
  return `${age === NONE ? "just now" : `${age} ago`} (${time})`;
}

const NONE = formatDuration(0);

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

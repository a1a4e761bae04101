import type { Candidate } from "./candidate.ts";

const MINUTE = 60_000;

/** How far two clocks may be apart, in ms: certificates are valid from a few minutes before they are made. */
const FARTHEST = 5 * MINUTE;

/** Before this program was written, no clock that is right can have been. */
const EARLIEST = new Date("2025-01-01T00:00:00Z");

const REMEDY = "set it, such as with 'timedatectl set-ntp true'";

/** Why this machine's clock cannot be right, by itself. */
export function clockFaults({ now = new Date() }: Pick<Candidate, "now">): string[] {
  if (now >= EARLIEST) return [];
  return [
    `the clock of this machine says ${now.toISOString()}, and what it signs would have expired long ago: ${REMEDY}`,
  ];
}

/**
 * Why this machine's clock cannot be used with the cluster's, as an answer's `Date` says it: the one would refuse certificates of the
 * other. undefined where both agree within five minutes, or the cluster's time is not known.
 */
export function clockFault(theirs: Date, now: Date): string | undefined {
  const ahead = now.getTime() - theirs.getTime();
  if (!(Math.abs(ahead) > FARTHEST)) return undefined;
  const minutes = Math.floor(Math.abs(ahead) / MINUTE);
  const where = ahead > 0 ? "ahead of" : "behind";
  return `the clock of this machine is ${minutes} minutes ${where} the cluster's, and neither would trust certificates of the other: ${REMEDY}`;
}

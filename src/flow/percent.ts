import type { StepState } from "./flow.ts";

/** Percent of the steps that had to be done and are; skipped steps don't count. 100 when there was nothing to do. */
export function percent(states: Iterable<StepState>): number {
  const counted = [...states].filter((state) => state !== "skipped");
  if (counted.length === 0) return 100;
  const done = counted.filter((state) => state === "done" || state === "settled").length;
  return Math.floor((100 * done) / counted.length);
}

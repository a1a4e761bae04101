import type { StepState } from "./flow.ts";

/** Percent of the steps that had to be done and are; skipped steps don't count. 100 when there was nothing to do. */
export function percent(states: Iterable<StepState>): number {
  const counted = [...states].filter((state) => state !== "skipped");
  if (counted.length === 0) return 100;
  const done = counted.filter((state) => state === "done").length;
  return Math.floor((100 * done) / counted.length);
}

/** One sentence for users: what is running, or that it starts or is finished. Step names in the order of the table. */
export function describe(title: string, states: ReadonlyMap<string, StepState>): string {
  const running = [...states].filter(([, state]) => state === "running").map(([name]) => name);
  if (running.length > 0) return running.join(", ");
  return percent(states.values()) === 100 ? `${title} finished` : `Starting ${title}`;
}

import type { Flow } from "../src/flow/flow.ts";

/** The longest way through a flow, in the unit of `takes`: no flow can end sooner, however it is run. */
export function criticalPath<Subject, Action>(flow: Flow<Subject, Action>, takes: (step: string) => number): number {
  const ends = new Map<string, number>();
  for (const [name, { after = [] }] of flow.steps) {
    const begins = Math.max(0, ...after.map((before) => ends.get(before) ?? 0));
    ends.set(name, begins + takes(name));
  }
  return Math.max(...ends.values());
}

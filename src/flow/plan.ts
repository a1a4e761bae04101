import type { Flow } from "./flow.ts";

/** What a run would do at one step; `because` says what does not hold where the step would be skipped. */
export interface PlannedStep {
  readonly step: string;
  readonly after: readonly string[];
  readonly skipped: boolean;
  readonly because?: string;
}

/** What a flow would do for this subject, in the order of its rows. Runs nothing. */
export function planFlow<Subject, Action>(flow: Flow<Subject, Action>, subject: Subject): PlannedStep[] {
  return [...flow.steps].map(([step, { after = [], when = [] }]) => {
    const missing = when.filter((condition) => !condition.holds(subject)).map((condition) => condition.text);
    const planned = { step, after, skipped: missing.length > 0 };
    return missing.length > 0 ? { ...planned, because: `only when ${missing.join(" and ")}` } : planned;
  });
}

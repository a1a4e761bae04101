import type { Flow } from "./flow.ts";

/** What a survey has found: by which step it was made, and which of the steps behind that have nothing to do. */
export interface Survey {
  readonly by: string;
  readonly settled: ReadonlySet<string>;
}

/**
 * The steps that may be left out: those behind the survey that it found settled, and that come after no step that runs,
 * however far before. What comes before the survey was done when it looked.
 */
export function sparedSteps<Subject, Action>(
  { steps }: Flow<Subject, Action>,
  subject: Subject,
  { by, settled }: Survey,
): ReadonlySet<string> {
  const over = new Set(stepsBefore(steps, by));
  const quiet = new Set([by]); // the survey, and steps behind it in which nothing moves
  const spared = new Set<string>();
  for (const [name, { after = [], when = [] }] of steps) {
    const isQuiet = after.every((one) => quiet.has(one) || over.has(one)) && after.some((one) => quiet.has(one));
    const skipped = !when.every((condition) => condition.holds(subject));
    if (!isQuiet || (!skipped && !settled.has(name))) continue;
    quiet.add(name);
    if (!skipped) spared.add(name);
  }
  return spared;
}

/** Every step that comes before this one, each as often as there are ways to it. */
function stepsBefore<Subject, Action>(steps: Flow<Subject, Action>["steps"], name: string): string[] {
  return (steps.get(name)?.after ?? []).flatMap((one) => [one, ...stepsBefore(steps, one)]);
}

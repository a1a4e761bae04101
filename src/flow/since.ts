import type { Condition, Flow, Step } from "./flow.ts";

/**
 * A run goes on with the rows that it began with, also when a later build takes it over. A row that is added to a table
 * says since when it is there; it is skipped in runs that began with an older table.
 */

type Day = NonNullable<Step<unknown, unknown>["since"]>;

/** The days on which rows were added to a table, latest first. */
export function additionsTo<Subject, Action>({ steps }: Flow<Subject, Action>): readonly Day[] {
  const days = new Set([...steps.values()].flatMap(({ since }) => since ?? []));
  return [...days].sort().reverse();
}

/** The table for a run that began with the rows of a day, or before all days: it skips those that were added later. */
export function tableOf<Subject, Action>(
  { title, steps }: Flow<Subject, Action>,
  day: Day | undefined,
): Flow<Subject, Action> {
  const isLater = ({ since }: Step<Subject, Action>) => since !== undefined && (day === undefined || since > day);
  const rows = [...steps].map(
    ([name, step]) => [name, isLater(step) ? { ...step, when: [beganWithIt] } : step] as const,
  );
  return { title, steps: new Map(rows) };
}

const beganWithIt: Condition<unknown> = { text: "the run began with this row", holds: () => false };

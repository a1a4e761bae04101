import { formerOrders, type Condition, type Day, type Flow, type Step } from "./flow.ts";

/**
 * A run goes on with the rows that it began with, and in their order, also when a later build takes it over. A row that is
 * added to a table says since when it is there; it is skipped in runs that began with an older table. A row that has come
 * to stand after others says what it came after until then, and before that.
 */

/** The days on which a table was changed, latest first. */
export function changesOf<Subject, Action>({ steps }: Flow<Subject, Action>): readonly Day[] {
  const days = new Set(
    [...steps.values()].flatMap((step) => [step.since ?? [], ...formerOrders(step).map(({ until }) => until)].flat()),
  );
  return [...days].sort().reverse();
}

/** The table for a run that began with the rows of a day, or before all days: without what was changed later. */
export function tableOf<Subject, Action>(
  { title, steps }: Flow<Subject, Action>,
  day: Day | undefined,
): Flow<Subject, Action> {
  const isLater = (change: Day | undefined) => change !== undefined && (day === undefined || change > day);
  const asBegun = (step: Step<Subject, Action>): Step<Subject, Action> => {
    if (isLater(step.since)) return { ...step, when: [beganWithIt] };
    const [former] = formerOrders(step)
      .filter(({ until }) => isLater(until))
      .sort((one, other) => (one.until < other.until ? -1 : 1));
    return former === undefined ? step : { ...step, after: former.after };
  };
  return { title, steps: new Map([...steps].map(([name, step]) => [name, asBegun(step)])) };
}

const beganWithIt: Condition<unknown> = { text: "the run began with this row", holds: () => false };

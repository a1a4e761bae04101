/** A reason to do a step: `text` completes the sentence "only when …" in plans and documents. */
export interface Condition<Subject> {
  readonly text: string;
  readonly holds: (subject: Subject) => boolean;
}

/** One row of a flow: an outcome, what is done to reach it, and what has to be there first. */
export interface Step<Subject, Action, Name extends string = string> {
  /** What the step does, as data: the engine never looks into it. */
  readonly do: Action;
  /** Steps that come first. Only steps written above this one. */
  readonly after?: readonly Name[];
  /** The step is skipped unless all of these hold. A skipped step counts as done for those after it. */
  readonly when?: readonly Condition<Subject>[];
  /** The day (ISO 8601) on which the row was added to a table that runs had begun with: see `since.ts`. */
  readonly since?: Day;
  /** What the row came after until that day, or until each of several, in tables that runs had begun with: see `since.ts`. */
  readonly was?: Was<Name> | readonly Was<Name>[];
}

/** What a row came after until a day. */
export interface Was<Name extends string = string> {
  readonly until: Day;
  readonly after: readonly Name[];
}

/** All that a row has come after before, as far as its table says. */
export const formerOrders = <Subject, Action, Name extends string>({
  was = [],
}: Step<Subject, Action, Name>): readonly Was<Name>[] => ("until" in was ? [was] : was);

/** ISO 8601. */
export type Day = `${number}-${number}-${number}`;

/** A process of many steps, in an order that has no cycles. */
export interface Flow<Subject, Action> {
  readonly title: string;
  readonly steps: ReadonlyMap<string, Step<Subject, Action>>;
}

/**
 * Where a step is; `settled` had nothing to do, `blocked` is behind a failure, `stopped` was not begun because the run was
 * asked to end.
 */
export type StepState = "pending" | "running" | "done" | "settled" | "skipped" | "failed" | "blocked" | "stopped";

/** What a run needs of its caller. `onChange` and `stopped` are synchronous. */
export interface RunOptions<Action> {
  /** Does what a step says. A rejection fails the step. */
  readonly carryOut: (action: Action, step: string) => Promise<void>;
  /** Whether a step has nothing to do, asked when its turn has come; it counts as done then. */
  readonly settled?: (step: string) => boolean;
  readonly onChange?: (step: string, state: StepState) => void;
  /** When true, no further step is begun. */
  readonly stopped?: () => boolean;
}

/** Carries every failure of a run, by step. */
export class FlowError extends Error {
  override readonly name = "FlowError";
  readonly failures: ReadonlyMap<string, unknown>;

  constructor(title: string, failures: ReadonlyMap<string, unknown>) {
    super(`${title}: failed at ${[...failures.keys()].join(", ")}`);
    this.failures = failures;
  }
}

/** Declares a flow. Because steps only look up, a flow has no cycles and reads from top to bottom. */
export function defineFlow<Subject, Action, const Name extends string>(
  title: string,
  rows: { readonly [N in Name]: Step<Subject, Action, NoInfer<Name>> },
): Flow<Subject, Action> {
  const steps = new Map<string, Step<Subject, Action>>();
  for (const [name, step] of Object.entries<Step<Subject, Action, Name>>(rows)) {
    const notAbove = [...(step.after ?? []), ...formerOrders(step).flatMap(({ after }) => after)].find(
      (dependency) => !steps.has(dependency),
    );
    if (notAbove) throw new Error(`${title}: "${name}" comes after "${notAbove}", which is not above it`);
    steps.set(name, step);
  }
  return { title, steps };
}

/**
 * Runs every step as early as the steps before it allow. A failed step blocks only the steps after it; all
 * others still run, so one attempt makes as much progress as it can. Throws `FlowError`, which has every failure.
 */
export async function runFlow<Subject, Action>(
  flow: Flow<Subject, Action>,
  subject: Subject,
  options: RunOptions<Action>,
): Promise<void> {
  const states = new Map<string, StepState>();
  const failures = new Map<string, unknown>();
  const become = (name: string, state: StepState) => {
    states.set(name, state);
    options.onChange?.(name, state);
  };
  /** One pass from top to bottom: steps only look up. What has settled and the order of rows decide, nothing else. */
  const advance = () =>
    Promise.all([...flow.steps].flatMap(([name, step]) => (isDue(name, step) ? begin(name, step) : [])));
  const isDue = (name: string, { after = [] }: Step<Subject, Action>): boolean =>
    !states.has(name) && after.every((dependency) => isOver(states.get(dependency)));
  /** Promises only for steps that are carried out: a pass is made whenever one settles, and most rows wait then. */
  const begin = (name: string, { do: action, after = [], when = [] }: Step<Subject, Action>): Promise<void>[] => {
    const before = after.map((dependency) => states.get(dependency));
    if (before.some((state) => state === "failed" || state === "blocked")) become(name, "blocked");
    else if (options.stopped?.()) become(name, "stopped");
    else if (!when.every((condition) => condition.holds(subject))) become(name, "skipped");
    else if (options.settled?.(name)) become(name, "settled");
    else return [carryOut(name, action)];
    return [];
  };
  const carryOut = async (name: string, action: Action): Promise<void> => {
    become(name, "running");
    try {
      await options.carryOut(action, name);
      become(name, "done");
    } catch (error) {
      failures.set(name, error);
      become(name, "failed");
    }
    await advance();
  };

  await advance();
  if (failures.size > 0) throw new FlowError(flow.title, failures);
}

/** Whether what comes after the step may look at how it ended; one that has no state has not been looked at yet. */
const isOver = (state: StepState | undefined): boolean =>
  state !== undefined && state !== "pending" && state !== "running";

import type { Flow, Step } from "../../../src/flow/flow.ts";

/** The table with one more row above another one, which then comes after it. */
export function withRow<Subject, Action>(
  { title, steps }: Flow<Subject, Action>,
  above: string,
  name: string,
  row: Step<Subject, Action>,
): Flow<Subject, Action> {
  const rows = [...steps].flatMap(([other, step]): [string, Step<Subject, Action>][] =>
    other === above
      ? [
          [name, row],
          [other, { ...step, after: [...(step.after ?? []), name] }],
        ]
      : [[other, step]],
  );
  return { title, steps: new Map(rows) };
}

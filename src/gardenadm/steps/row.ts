/** What a row of gardenadm's tables does, as plans say it. */
export interface Row<Action> {
  readonly action: Action;
  readonly does: string;
}

/** A row, and the rows that it comes after. */
export const rowsWith =
  <Action>() =>
  (action: Action, does: string, ...after: Action[]) => ({ do: { action, does }, after });

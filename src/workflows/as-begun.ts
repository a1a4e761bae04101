import { patched } from "@temporalio/workflow";
import type { Flow } from "../flow/flow.ts";
import { changesOf, tableOf } from "../flow/since.ts";

/**
 * The table that this run began with, also when a later build goes on with it: its first task records, as a patch, the day
 * of the newest row. A run whose history has no such record began before any row had a day.
 */
export function asBegun<Subject, Action>(table: Flow<Subject, Action>): Flow<Subject, Action> {
  return tableOf(
    table,
    changesOf(table).find((day) => patched(`table of ${day}`)),
  );
}

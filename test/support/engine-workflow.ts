import type { ShootRun } from "../../src/api/shoot/run.ts";
import { perform, type Outcome } from "../../src/workflows/perform.ts";
import { engineTables, type EngineTable } from "./engine-tables.ts";

/** Runs a table as operations of Shoots are run. */
export function runEngineTable(table: EngineTable, run: ShootRun): Promise<Outcome> {
  return perform(engineTables[table], run);
}

import type { StepProgress } from "../../src/api/shoot/run.ts";
import type { EngineTable } from "./engine-tables.ts";
import type { EngineWorld } from "./engine-world.ts";

/** What runs tables: the same is asked of each. */
export interface Engine {
  /** Begins a run. `retryDuration` is how long, in ms, what is worth a retry is tried again. */
  begin(table: EngineTable, world: EngineWorld, retryDuration: number): Promise<EngineRun>;
  stop(): Promise<void>;
}

/** How far a run has come by itself. */
export type EngineOutcome = "succeeded" | "stopped" | "parked";

/** A run of a table. */
export interface EngineRun {
  /** Resolves when it has ended, or nothing moves any more before people act. */
  outcome(): Promise<EngineOutcome>;
  /** Where each step is that has been looked at, as those who watch see it. */
  shown(): Promise<Readonly<Record<string, ShownStep>>>;
  /** Has parked steps go on: by a request, or by the same command again. */
  goOn(): Promise<void>;
  /** Has what the step waits for come true, and says so. */
  tell(step: string): Promise<void>;
  /** Asks the run to end between steps. */
  interrupt(): Promise<void>;
  /** Kills the process that carries steps out, by SIGKILL, and starts another one. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** A step as it is shown. */
export interface ShownStep {
  readonly state: StepProgress["state"];
  /** Which attempt has failed last. */
  readonly attempt?: number;
  readonly message?: string;
  readonly codes?: readonly string[];
}

import type { ShootRun } from "../../src/api/shoot/run.ts";
import { defineFlow } from "../../src/flow/flow.ts";
import { perform, type Outcome } from "../../src/workflows/perform.ts";
import { apply, remove } from "../../src/workflows/steps.ts";

/** The shortest operation there is: its one step waits for an Infrastructure to be ready. */
export function waitUntilReady(run: ShootRun): Promise<Outcome> {
  return perform(defineFlow("Wait until ready", { infrastructure: { run: apply("Infrastructure") } }), run);
}

/** The same for an Infrastructure that has to go. */
export function waitUntilGone(run: ShootRun): Promise<Outcome> {
  return perform(defineFlow("Wait until gone", { infrastructure: { run: remove("Infrastructure") } }), run);
}

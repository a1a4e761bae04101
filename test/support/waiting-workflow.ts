import type { ShootRun } from "../../src/api/shoot/run.ts";
import { apply, defineShootFlow, remove } from "../../src/workflows/actions.ts";
import { perform, type Outcome } from "../../src/workflows/perform.ts";

/** The shortest operation there is: its one step waits for an Infrastructure to be ready. */
export function waitUntilReady(run: ShootRun): Promise<Outcome> {
  return perform(defineShootFlow("Wait until ready", { infrastructure: { do: apply("Infrastructure") } }), run);
}

/** The same for an Infrastructure that has to go. */
export function waitUntilGone(run: ShootRun): Promise<Outcome> {
  return perform(defineShootFlow("Wait until gone", { infrastructure: { do: remove("Infrastructure") } }), run);
}

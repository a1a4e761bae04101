import type { ShootRun } from "../../src/api/shoot/run.ts";
import { apply, defineShootFlow, migrateObjects, remove } from "../../src/workflows/actions.ts";
import { perform, type Outcome } from "../../src/workflows/perform.ts";

/** The shortest operation there is: its one step waits for an Infrastructure to be ready. */
export function waitUntilReady(run: ShootRun): Promise<Outcome> {
  return perform(defineShootFlow("Wait until ready", { infrastructure: { do: apply("Infrastructure") } }), run);
}

/** The same for an Infrastructure that has to go. */
export function waitUntilGone(run: ShootRun): Promise<Outcome> {
  return perform(defineShootFlow("Wait until gone", { infrastructure: { do: remove("Infrastructure") } }), run);
}

/** Waits until the controllers of all OperatingSystemConfigs that there are have let go of them. */
export function waitUntilAllMigrated(run: ShootRun): Promise<Outcome> {
  const configs = { do: migrateObjects("OperatingSystemConfig") };
  return perform(defineShootFlow("Wait until all have migrated", { configs }), run);
}

/** Waits until all OperatingSystemConfigs that there are have gone. */
export function waitUntilAllGone(run: ShootRun): Promise<Outcome> {
  return perform(defineShootFlow("Wait until all are gone", { configs: { do: remove("OperatingSystemConfig") } }), run);
}

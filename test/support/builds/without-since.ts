import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { cleanUp as cleanUpFlow } from "../../../src/workflows/clean-up.ts";
import { perform, type Outcome } from "../../../src/workflows/perform.ts";
import { call } from "../../../src/workflows/actions.ts";
import { withRow } from "./with-row.ts";

/** The workflows of a later build, whose clean-up has got a row that forgets to say since when. */
export { deleteShoot, forceDelete, migrate, reconcile, restore, shoot } from "../../../src/workflows/index.ts";

const table = withRow(cleanUpFlow, "workloads", "state", { do: call("removeState"), after: ["fence"] });

/** As in this release, with the row. */
export function cleanUp(run: ShootRun): Promise<Outcome> {
  return perform(table, { ...run, retryDuration: Number.MAX_SAFE_INTEGER }, "operators");
}

import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { cleanUp as cleanUpFlow } from "../../../src/workflows/clean-up.ts";
import { perform, type Outcome } from "../../../src/workflows/perform.ts";
import { reconcile as reconcileFlow } from "../../../src/workflows/reconcile.ts";
import { call } from "../../../src/workflows/actions.ts";
import { withRow } from "./with-row.ts";

/** The workflows of a later build: reconcile and the clean-up have got a row each, of which the latter says since when. */
export { deleteShoot, forceDelete, migrate, restore, shoot } from "../../../src/workflows/index.ts";

const reconcileTable = withRow(reconcileFlow, "kubeApiServer", "fence", { do: call("raiseFence"), after: ["etcd"] });

const cleanUpTable = withRow(cleanUpFlow, "workloads", "state", {
  do: call("removeState"),
  after: ["fence"],
  since: "2026-12-01",
});

/** As in this release, with the row. */
export function reconcile(run: ShootRun): Promise<Outcome> {
  return perform(reconcileTable, { ...run, namespaceUsable: true });
}

/** As in this release, with the row. */
export function cleanUp(run: ShootRun): Promise<Outcome> {
  return perform(cleanUpTable, { ...run, retryDuration: Number.MAX_SAFE_INTEGER }, "operators");
}

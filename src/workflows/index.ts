import { ActivityCancellationType, proxyActivities } from "@temporalio/workflow";
import type { SeedActivities } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot-run.ts";
import { seedQueue } from "./contract.ts";
import { deleteShoot as deleteFlow } from "./delete.ts";
import { perform, type Outcome } from "./perform.ts";
import { reconcile as reconcileFlow } from "./reconcile.ts";

/** The workflow types of queue `garden`, by the names in `contract.ts`. */

export { shoot } from "./shoot.ts";

/** Create and Reconcile of a Shoot. */
export function reconcile(run: ShootRun): Promise<Outcome> {
  return perform(reconcileFlow, { ...run, namespaceUsable: true });
}

/** Delete of a Shoot; afterwards nothing of it is left in the seed. */
export async function deleteShoot(run: ShootRun): Promise<Outcome> {
  return perform(deleteFlow, await withControlPlane(run));
}

/** What the seed says of the control plane: how far it was built, or torn down already. */
async function withControlPlane(run: ShootRun): Promise<ShootRun> {
  const seed = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seed),
    summary: "read control plane",
    startToCloseTimeout: "1 minute",
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumInterval: "30s" },
  });
  return { ...run, ...(await seed.readControlPlane(run)) };
}

import { ActivityCancellationType, proxyActivities } from "@temporalio/workflow";
import type { SeedActivities } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { WITHOUT_END } from "./attempts.ts";
import { cleanUp as cleanUpFlow } from "./clean-up.ts";
import { seedQueue } from "./contract.ts";
import { deleteShoot as deleteFlow } from "./delete.ts";
import { forceDelete as forceDeleteFlow } from "./force-delete.ts";
import { migrate as migrateFlow } from "./migrate.ts";
import { perform, type Outcome } from "./perform.ts";
import { reconcile as reconcileFlow } from "./reconcile.ts";
import { restore as restoreFlow } from "./restore.ts";

/** The workflow types of queue `garden`, by the names in `contract.ts`. */

export { shoot } from "./shoot.ts";
export { bastion } from "./bastion.ts";
export { installation } from "./installation/installation.ts";

/** Create and Reconcile of a Shoot. */
export function reconcile(run: ShootRun): Promise<Outcome> {
  return perform(reconcileFlow, { ...run, namespaceUsable: true });
}

/** Migrate of a Shoot: afterwards the seed that it goes to leads, and no controller acts for it until Restore. */
export function migrate(run: ShootRun): Promise<Outcome> {
  return perform(migrateFlow, { ...run, namespaceUsable: true });
}

/** Restore of a Shoot, in the seed that leads now. */
export function restore(run: ShootRun): Promise<Outcome> {
  return perform(restoreFlow, { ...run, namespaceUsable: true });
}

/**
 * Takes away what a Shoot has left behind on a seed that does not lead any more; beside the Shoot's operations. No
 * operation waits for it, so it does not give up: it may take weeks until a seed is back.
 */
export function cleanUp(run: ShootRun): Promise<Outcome> {
  return perform(cleanUpFlow, { ...run, retryDuration: WITHOUT_END }, "operators");
}

/** Delete of a Shoot; afterwards nothing of it is left in the seed. */
export async function deleteShoot(run: ShootRun): Promise<Outcome> {
  return perform(deleteFlow, await withControlPlane(run));
}

/** Delete of a Shoot whose owner accepts that infrastructure is left behind; afterwards nothing of it is left in the seed. */
export async function forceDelete(run: ShootRun): Promise<Outcome> {
  return perform(forceDeleteFlow, await withControlPlane(run));
}

/** What the seed says of the control plane: how far it was built, or torn down already. */
async function withControlPlane(run: ShootRun): Promise<ShootRun> {
  const seed = proxyActivities<SeedActivities>({
    taskQueue: seedQueue(run.seedName),
    summary: "read control plane",
    startToCloseTimeout: "1 minute",
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumInterval: "30s" },
  });
  return { ...run, ...(await seed.readControlPlane(run)) };
}

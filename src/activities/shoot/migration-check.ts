import { commandLines } from "../../api/command-lines.ts";
import type { ErrorCode } from "../../api/error-codes.ts";
import { appliedKinds } from "../../api/extensions/kinds.ts";
import { Bastion, type Leadership } from "../../api/index.ts";
import { migrationObstacles } from "../../api/placement/migration.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { listExtensionObjects } from "../extensions/list.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import type { GardenShoots } from "./garden-shoots.ts";
import { readMigrationFacts } from "./migration-facts.ts";
import { readShoot } from "./patch.ts";

/** `gardenClient` only reads; `now` is the clock that the Seeds' heartbeats are compared with. */
export interface MigrationCheckDeps {
  readonly gardenClient: KubeClient;
  readonly shoots: GardenShoots;
  readonly now?: () => Date;
}

/**
 * Throws every reason why the Shoot of the run cannot move, before anything is touched. Admission has asked the same
 * when the move was asked for; the world may have changed since. What may pass by itself is worth another try.
 */
export function createMigrationCheck({ gardenClient, shoots, now = () => new Date() }: MigrationCheckDeps) {
  return async (run: ShootRun): Promise<void> => {
    const shoot = await readShoot(gardenClient, run);
    if (shoot === undefined || run.migration === undefined) return;
    const { source: from, destination: to, takeover } = run.migration;
    const facts = await readMigrationFacts(gardenClient, shoot, { from, to }, { now: now(), shoots });
    const obstacles = migrationObstacles({ ...facts, takeover, underway: true });
    if (obstacles.length === 0) return;
    const reasons = obstacles.map(({ field, message }) => `${field}: ${message}`).join("; ");
    const transient = obstacles.every((obstacle) => obstacle.transient);
    const cancel = `to give it up: ${commandLines.cancelMigration(`${run.namespace}/${run.name}`)}`;
    throw new StepError(`cannot move Shoot ${run.namespace}/${run.name} to Seed ${to}: ${reasons}; ${cancel}`, [
      transient ? transientProblem : lastingProblem,
    ]);
  };
}

const transientProblem: ErrorCode = "ERR_RETRYABLE_CONFIGURATION_PROBLEM";
const lastingProblem: ErrorCode = "ERR_CONFIGURATION_PROBLEM";

/**
 * Checks the seed that the Shoot leaves: throws while a user has a Bastion, through which they log in to its nodes, and
 * while an extension object does not say who leads, so that its controller would not stop.
 */
export function createSourceCheck({ seedClient }: { readonly seedClient: KubeClient }) {
  return async (run: ShootRun): Promise<void> => {
    const { technicalID: namespace, name } = run;
    await requireLeadership(seedClient, run);
    const bastions = await seedClient.list(Bastion, { namespace });
    if (bastions.length === 0) return;
    const names = bastions.map(({ metadata }) => metadata.name).join(", ");
    throw configurationProblem(
      `cannot move Shoot ${name}: Bastion ${names} in namespace ${namespace} of its seed would be left behind; delete it first`,
    );
  };
}

/** Objects that were applied before the garden had a domain for leadership records get it by the next Reconcile. */
async function requireLeadership(seedClient: KubeClient, run: ShootRun): Promise<void> {
  if (run.leadershipRecord === undefined) return;
  const objects = await Promise.all(appliedKinds.map((kind) => listExtensionObjects(seedClient, run, kind)));
  const unled = objects.flat().filter((object) => {
    const { leadership } = (object["spec"] ?? {}) as { leadership?: Partial<Leadership> };
    return leadership?.record !== run.leadershipRecord || leadership?.value !== run.seedName;
  });
  if (unled.length === 0) return;
  const names = unled.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");
  throw configurationProblem(
    `cannot move Shoot ${run.name}: ${names} in namespace ${run.technicalID} of its seed do not say who leads, so that their controllers would go on; first: ${commandLines.reconcileShoot(`${run.namespace}/${run.name}`)}`,
  );
}

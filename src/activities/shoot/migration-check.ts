import { commandLines } from "../../api/command-lines.ts";
import type { ErrorCode } from "../../api/error-codes.ts";
import { Bastion } from "../../api/index.ts";
import { migrationObstacles } from "../../api/placement/migration.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { configurationProblem, StepError } from "../failure.ts";
import { readMigrationFacts } from "./migration-facts.ts";
import { readShoot } from "./patch.ts";

/** `gardenClient` only reads; `now` is the clock that the Seeds' heartbeats are compared with. */
export interface MigrationCheckDeps {
  readonly gardenClient: KubeClient;
  readonly now?: () => Date;
}

/**
 * Throws every reason why the Shoot of the run cannot move, before anything is touched. Admission has asked the same
 * when the move was asked for; the world may have changed since. What may pass by itself is worth another try.
 */
export function createMigrationCheck({ gardenClient, now = () => new Date() }: MigrationCheckDeps) {
  return async (run: ShootRun): Promise<void> => {
    const shoot = await readShoot(gardenClient, run);
    if (shoot === undefined || run.migration === undefined) return;
    const { source: from, destination: to, takeover } = run.migration;
    const facts = await readMigrationFacts(gardenClient, shoot, { from, to }, now());
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

/** Checks the seed that the Shoot leaves: throws while a user has a Bastion, through which they log in to its nodes. */
export function createSourceCheck({ seedClient }: { readonly seedClient: KubeClient }) {
  return async ({ technicalID: namespace, name }: ShootRun): Promise<void> => {
    const bastions = await seedClient.list(Bastion, { namespace });
    if (bastions.length === 0) return;
    const names = bastions.map(({ metadata }) => metadata.name).join(", ");
    throw configurationProblem(
      `cannot move Shoot ${name}: Bastion ${names} in namespace ${namespace} of its seed would be left behind; delete it first`,
    );
  };
}

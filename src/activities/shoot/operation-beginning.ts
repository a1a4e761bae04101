import type { Shoot } from "../../api/index.ts";
import { hasArrived } from "../../api/placement/move.ts";
import { isAsleep, type ShootRun } from "../../api/shoot/run.ts";
import { readTakeover } from "../../api/placement/takeover.ts";
import { now, type MergePatch } from "../../kube/index.ts";
import type { OperationStatus } from "../index.ts";

/** What a Shoot's status says once the operation of this run has begun, in the garden of this identity. Pure, but for the time. */
export const beginning = (run: ShootRun, shoot: Shoot, garden: string): MergePatch => ({
  uid: shoot.status?.uid ?? run.uid,
  technicalID: run.technicalID,
  clusterIdentity: shoot.status?.clusterIdentity ?? identityOf(run, shoot, garden),
  observedGeneration: run.generation,
  gardener: { id: "perennial", name: "perennial", version: "0.1.0" },
  hibernated: isAsleep(run),
  ...whereabouts(run, shoot),
  lastErrors: null,
  lastOperation: lastOperation(run.operation, {
    state: "Processing",
    progress: 0,
    description: `Starting ${run.operation} of Shoot`,
  }),
});

/** What tells the Shoot from every other cluster (upstream: EnsureShootClusterIdentity). Once written it never changes. */
const identityOf = ({ technicalID, uid }: ShootRun, { status }: Shoot, garden: string): string =>
  `${technicalID}-${status?.uid ?? uid}-${garden}`;

/** Where the Shoot is, for how long that is remembered, and where it is going. */
function whereabouts(run: ShootRun, shoot: Shoot): MergePatch {
  if (run.operation === "Delete") return {};
  const { seeds = [], leadership } = shoot.status ?? {};
  return {
    addressTTLSeconds: run.dnsTtl,
    seedName: run.seedName,
    seeds: [...new Set([...seeds, ...seedsOf(run)])],
    ...(run.operation === "Migrate" ? beginningOfMigration(run, shoot) : {}),
    ...(run.migration?.returning && leadership ? { leadership: { epoch: run.epoch, ...nobodyBefore } } : {}),
  };
}

/** Where something of the Shoot may be from now on. */
const seedsOf = ({ seedName, migration }: ShootRun): string[] =>
  migration ? [seedName, migration.source, migration.destination] : [seedName];

/** After a Shoot's return no previous seed is recorded: its next operation asks nothing of one. */
const nobodyBefore = { previousSeed: null, since: null, takeover: null } as const;

/**
 * Since when, out of which epoch, and with whose leave if the old seed is not to be asked. Only a Shoot that is whole can
 * be called back from the epoch: one that is taken over in the middle of a Restore goes on with that Restore.
 */
function beginningOfMigration({ epoch, migration }: ShootRun, shoot: Shoot): MergePatch {
  const approval = migration?.takeover ? readTakeover(shoot) : undefined;
  return {
    migrationStartTime: now(),
    ...(shoot.status?.leadership && hasArrived(shoot) ? { leadership: { leaving: epoch } } : {}),
    ...(approval ? { takeover: { by: "unknown", at: now(), ...approval } } : {}),
  };
}

/** The part of a Shoot's status that says how an operation gets on, as of now. */
export const lastOperation = (
  type: ShootRun["operation"],
  { state, progress, description }: Pick<OperationStatus, "state" | "progress" | "description">,
) => ({ type, state, progress, description, lastUpdateTime: now() });

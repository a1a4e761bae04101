import type { Shoot } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { readTakeover } from "../../api/placement/takeover.ts";
import { now, type MergePatch } from "../../kube/index.ts";
import type { OperationStatus } from "../index.ts";

/** What a Shoot's status says once the operation of this run has begun. Pure, but for the time. */
export const beginning = (run: ShootRun, shoot: Shoot): MergePatch => ({
  uid: shoot.status?.uid ?? run.uid,
  technicalID: run.technicalID,
  observedGeneration: run.generation,
  gardener: { id: "perennial", name: "perennial", version: "0.1.0" },
  hibernated: run.hibernated,
  ...whereabouts(run, shoot),
  lastErrors: null,
  lastOperation: lastOperation(run.operation, {
    state: "Processing",
    progress: 0,
    description: `Starting ${run.operation} of Shoot`,
  }),
});

/** Where the Shoot is, for how long that is remembered, and where it is going. */
function whereabouts(run: ShootRun, shoot: Shoot): MergePatch {
  if (run.operation === "Delete") return {};
  const { seeds = [], leadership } = shoot.status ?? {};
  return {
    addressTTLSeconds: run.dnsTtl,
    seedName: run.seedName,
    seeds: [...new Set([...seeds, ...seedsOf(run)])],
    ...(run.operation === "Migrate" ? beginningOfMigration(run, shoot) : {}),
    ...(isReturn(run) && leadership ? { leadership: { epoch: run.epoch, ...nobodyBefore } } : {}),
  };
}

/** Where something of the Shoot may be from now on. */
const seedsOf = ({ seedName, migration }: ShootRun): string[] =>
  migration ? [seedName, migration.source, migration.destination] : [seedName];

/** A Shoot whose migration was given up goes back the same way that it would have arrived. */
const isReturn = ({ operation, migration }: ShootRun): boolean =>
  operation === "Restore" && migration?.source === migration?.destination;

/** Whoever led before the Shoot went back where it was has nothing to do with what comes next. */
const nobodyBefore = { previousSeed: null, since: null, takeover: null } as const;

/**
 * Whether the Shoot is whole where it leads, so that its migration can still be given up. One that is taken over in the
 * middle of a Restore is not: called back, it goes on with that Restore.
 */
function isWhole({ status }: Shoot): boolean {
  const { type, state } = status?.lastOperation ?? {};
  if (type === "Restore") return state === "Succeeded";
  return type !== "Migrate" || status?.leadership?.leaving === status?.leadership?.epoch;
}

/** Since when, out of which epoch, and with whose leave if the old seed is not to be asked. */
function beginningOfMigration({ epoch, migration }: ShootRun, shoot: Shoot): MergePatch {
  const approval = migration?.takeover ? readTakeover(shoot) : undefined;
  return {
    migrationStartTime: now(),
    ...(shoot.status?.leadership && isWhole(shoot) ? { leadership: { leaving: epoch } } : {}),
    ...(approval ? { takeover: { by: "unknown", at: now(), ...approval } } : {}),
  };
}

/** The part of a Shoot's status that says how an operation gets on, as of now. */
export const lastOperation = (
  type: ShootRun["operation"],
  { state, progress, description }: Pick<OperationStatus, "state" | "progress" | "description">,
) => ({ type, state, progress, description, lastUpdateTime: now() });

import { commandLines } from "../command-lines.ts";
import { ROLE_LABEL } from "../labels.ts";
import { EMERGENCY_STOP_ANNOTATION } from "../annotations.ts";
import type { CloudProfile } from "../core/cloud-profile.ts";
import { findObjectStore } from "../object-stores.ts";
import type { Seed } from "../core/seed.ts";
import { placementObstacles } from "./choice.ts";
import { bucketObstacles, describeHeartbeat, isSeedReady, networkObstacles, type Obstacle } from "./fit.ts";
import { describeMove, moveOf, type Move } from "./move.ts";
import type { NeededRegistration } from "../registration/gate.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** What a Shoot's move to another Seed depends on. */
export interface MigrationFacts {
  /** The Shoot; where it is to go is said by `to`, not by its spec. */
  readonly shoot: Shoot;
  /** Name of the Seed that it is to go to. */
  readonly to: string;
  readonly source: Seed | undefined;
  readonly destination: Seed | undefined;
  /** The Shoot's CloudProfile, where it is known. */
  readonly profile?: CloudProfile | undefined;
  /** How many other Shoots the destination has; undefined where the caller cannot list them. */
  readonly neighbours?: number | undefined;
  readonly now: Date;
  /** The source is not to be asked for anything. */
  readonly takeover?: boolean;
  /** It is the move that is under way which asks: it does not stand in its own way. */
  readonly underway?: boolean;
  /** What the Shoot needs and the destination never gets; undefined where the caller cannot read it. */
  readonly lacking?: readonly NeededRegistration[];
  /** What is left of the Shoot when its Seed is not there; undefined where the caller cannot read it. */
  readonly kept?: KeptState;
}

/** What the garden keeps of a Shoot's control plane. */
export interface KeptState {
  /** There is a ShootState. */
  readonly state: boolean;
  /** A snapshot of its etcd was verified and written down. */
  readonly snapshot: boolean;
  /** The snapshot's size in bytes, and when it was taken, where the record is not sealed. */
  readonly size?: number;
  readonly takenAt?: string;
  /** Why what is kept is not the latest there is: it does not fit into the garden. */
  readonly problem?: string;
}

/**
 * Every reason why the Shoot cannot move, not only the first. Admission, the plan of the command line and the flow
 * itself ask this same question. Pure.
 */
export function migrationObstacles(facts: MigrationFacts): Obstacle[] {
  const { shoot, destination, underway } = facts;
  const move = moveOf(shoot);
  return [
    ...(underway ? [] : operationObstacles(facts, move)),
    ...leadershipObstacles(shoot),
    ...sourceObstacles(facts, move),
    ...destinationObstacles(facts),
    ...backupObstacles(facts),
    ...(destination ? placementObstacles({ ...facts, seed: destination }) : []),
    ...(destination ? networkObstacles(shoot, destination) : []),
    ...extensionObstacles(facts),
    ...addressObstacles(facts),
    ...keptObstacles(facts),
  ];
}

function operationObstacles(facts: MigrationFacts, move: Move): Obstacle[] {
  const { metadata, status } = facts.shoot;
  const { type, state } = status?.lastOperation ?? {};
  if (metadata.deletionTimestamp !== undefined)
    return [{ field: "metadata.deletionTimestamp", message: "the Shoot is being deleted: it stays where it is" }];
  if (type !== undefined && (type !== "Create" || state === "Succeeded")) return whereaboutsObstacles(facts, move);
  const message = "the Shoot has not been created yet: wait until Create has succeeded";
  return [{ field: "status.lastOperation", message }];
}

/** A Shoot whose Seed dies while it is restored there may be taken to another one by a takeover. */
function whereaboutsObstacles({ shoot, to, takeover }: MigrationFacts, move: Move): Obstacle[] {
  switch (move.is) {
    case "settled":
      return placeObstacles(shoot, to, move);
    case "leaving":
      return [{ field: "status.lastOperation", message: describeMove(shoot.metadata, move) }];
    case "arriving":
    case "returning":
      if (takeover === true) return placeObstacles(shoot, to, move);
      return [{ field: "status.lastOperation", message: describeMove(shoot.metadata, move) }];
  }
}

/** The Shoot goes to a Seed that holds nothing of it. */
function placeObstacles({ status }: Shoot, to: string, { is, leader }: Move): Obstacle[] {
  if (leader === to) return [{ field: "spec.seedName", message: `the Shoot is on Seed ${to} already: choose another` }];
  return status?.seeds?.includes(to) ? [leftoverObstacle(to, is === "settled")] : [];
}

/** No seed is cleaned up while the Shoot is being restored: what is left there may be all that there is of it. */
function leftoverObstacle(to: string, settled: boolean): Obstacle {
  const field = "status.seeds";
  const left = `Seed ${to} still holds leftovers of this Shoot`;
  if (settled) return { field, message: `${left} from before: wait until its name has left ${field}`, transient: true };
  const remedy = "choose a Seed that holds nothing of it";
  return { field, message: `${left}, which are cleaned up once it has arrived somewhere: ${remedy}` };
}

function leadershipObstacles({ metadata, status }: Shoot): Obstacle[] {
  if (status?.leadership !== undefined) return [];
  const message =
    "the Shoot has no leadership record, without which two Seeds could act at once: the garden needs a Secret with " +
    `label ${ROLE_LABEL}=leadership-domain in namespace garden; then: ` +
    commandLines.reconcileShoot(`${metadata.namespace}/${metadata.name}`);
  return [{ field: "status.leadership", message }];
}

/** Flows read a Seed's object wherever the Shoot is, even where nothing is asked of the seed itself. */
function sourceObstacles({ to, source }: MigrationFacts, { leader }: Move): Obstacle[] {
  if (source !== undefined || leader === undefined || leader === to) return [];
  const message = `there is no Seed ${leader}, which the Shoot leaves: create its object again under that name; for a takeover its worker may stay off`;
  return [{ field: "status.seedName", message }];
}

function destinationObstacles({ to, destination, now }: MigrationFacts): Obstacle[] {
  const field = "spec.seedName";
  if (destination === undefined) return [{ field, message: `there is no Seed ${to}: see kubectl get seeds` }];
  const { deletionTimestamp, annotations } = destination.metadata;
  if (deletionTimestamp !== undefined) return [{ field, message: `Seed ${to} is being deleted: choose another` }];
  if (annotations?.[EMERGENCY_STOP_ANNOTATION] === "true") {
    const remedy = `remove its annotation ${EMERGENCY_STOP_ANNOTATION}, or choose another`;
    return [{ field, message: `Seed ${to} has stopped all operations: ${remedy}`, transient: true }];
  }
  if (isSeedReady(destination, now)) return keyObstacles(destination);
  const remedy = "see whether it runs and reaches the garden, or choose another";
  const message = `Seed ${to} is not ready: ${describeHeartbeat(destination, now)}; ${remedy}`;
  return [{ field, message, transient: true }];
}

/** The Shoot's keys and states are wrapped for the seed that they go to. */
function keyObstacles({ metadata: { name }, status }: Seed): Obstacle[] {
  if (status?.stateKey !== undefined) return [];
  const message = `Seed ${name} has published no key for what is kept of the Shoot: its worker writes one into the Seed's status when it starts`;
  return [{ field: "spec.seedName", message, transient: true }];
}

/** The Shoot's etcd travels in a backup: one is written where it was, and read where it goes. */
function backupObstacles({ to, source, destination, takeover }: MigrationFacts): Obstacle[] {
  const missing = [source, destination].flatMap((seed) => {
    if (seed === undefined) return [];
    const { name } = seed.metadata;
    const field = name === to ? "spec.seedName" : "status.seedName";
    if (seed.spec.backup !== undefined) return takeover && seed === source ? [] : bucketObstacles(seed, field);
    return [
      { field, message: `Seed ${name} keeps no backups, in which the Shoot's etcd travels: set its spec.backup` },
    ];
  });
  return [...missing, ...storeObstacles(source, destination)];
}

/** What reads an object store cannot reach a claim's, and the other way round. */
function storeObstacles(source: Seed | undefined, destination: Seed | undefined): Obstacle[] {
  const [from, to] = [source?.spec.backup?.provider, destination?.spec.backup?.provider];
  if (from === undefined || to === undefined || isObjectStore(from) === isObjectStore(to)) return [];
  const [kept, wanted] = isObjectStore(from) ? ["an object store", "a claim"] : ["a claim", "an object store"];
  const message = `Seed ${source?.metadata.name} keeps backups in ${kept} (${from}), Seed ${destination?.metadata.name} in ${wanted} (${to}), and there is no way from one to the other: choose a Seed with the same`;
  return [{ field: "spec.seedName", message }];
}

const isObjectStore = (provider: string): boolean => findObjectStore(provider) !== undefined;

/** Restore would wait for what is not installed, and only forward is left by then. */
const extensionObstacles = ({ to, lacking = [] }: MigrationFacts): Obstacle[] =>
  lacking.map(({ registered: { name }, pairs }) => ({
    field: "spec.seedName",
    message: `Seed ${to} does not have extension ${name}, needed for ${pairs.join(", ")}, and does not get it, because its ControllerRegistration is being deleted: choose a Seed that has it, or register it anew once it is gone`,
  }));

/** Machines and kubeconfigs know the API server by its name: it stays the same. */
function addressObstacles({ source, destination }: MigrationFacts): Obstacle[] {
  if (source === undefined || destination === undefined) return [];
  const [before, after] = [source, destination].map(({ spec }) => spec.dns.internal?.domain ?? "none");
  if (before === after) return [];
  const message = `the internal domain of Seed ${destination.metadata.name} is ${after}, that of Seed ${source.metadata.name} is ${before}: machines know the API server by that name; choose a Seed with the same`;
  return [{ field: "spec.seedName", message }];
}

/**
 * A planned move makes its own snapshot, but would lose a state that does not fit into the garden; a takeover has nothing
 * but what was kept.
 */
function keptObstacles({ shoot, takeover, kept }: MigrationFacts): Obstacle[] {
  if (kept === undefined) return [];
  const { namespace, name } = shoot.metadata;
  if (!takeover) return kept.problem === undefined ? [] : [{ field: "metadata.name", message: kept.problem }];
  if (!kept.state)
    return [
      { field: "metadata.name", message: `there is no ShootState ${namespace}/${name} to restore the Shoot from` },
    ];
  if (kept.snapshot) return [];
  const message = `ShootState ${namespace}/${name} names no snapshot of etcd to restore the Shoot from`;
  return [{ field: "metadata.name", message }];
}

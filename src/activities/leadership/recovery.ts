import { Seed, type Shoot } from "../../api/index.ts";
import type { ShootRef, ShootRun } from "../../api/shoot/run.ts";
import type { Leader, LeaderLookup, ServerAnswer } from "../../dns/index.ts";
import type { KubeClient } from "../../kube/index.ts";

/** The leader that all servers of the zone name, and how far it has got with the Shoot. */
export interface Recovery {
  readonly record: string;
  readonly leader: Leader;
  /** The leader in the Shoot's status; undefined where the status was lost. */
  readonly before: Turn | undefined;
  readonly place: Place;
}

/**
 * `whole`: the leader has all of the Shoot. `arriving`: its Restore from another Seed is not over. `leaving`: a Migrate from
 * it has begun, and is called back.
 */
export type Place =
  { readonly is: "whole" } | { readonly is: "arriving"; readonly from: string } | { readonly is: "leaving" };

/** The statement of an operator that counts where Temporal has no operation of the leader's epoch. */
export interface Statement {
  readonly whole: boolean;
  readonly restoreFrom?: string | undefined;
}

/** `running` returns what the Shoot's running operation was started with; nothing is written. */
export interface RecoveryDeps {
  readonly gardenClient: Pick<KubeClient, "read">;
  readonly lookup: Pick<LeaderLookup, "askAll">;
  readonly running: (ref: ShootRef) => Promise<ShootRun | undefined>;
}

/**
 * Plans how the status of a Shoot catches up with its leadership record, as after the garden was restored from a backup;
 * returns every reason why it cannot, if there is one.
 */
export async function planRecovery(
  { gardenClient, lookup, running }: RecoveryDeps,
  shoot: Shoot,
  record: string,
  statement: Statement,
): Promise<Recovery | readonly string[]> {
  const { namespace, name, uid = "" } = shoot.metadata;
  const answers = await lookup.askAll(record);
  const dissent = findDissent(answers);
  if (dissent.length > 0) return dissent.map((answer) => `${record}: ${answer}`);
  const leader = answers[0]?.leader;
  if (leader === undefined) return [`${record} names no leader: the next Reconcile writes the record`];
  const seed = await gardenClient.read(Seed, { name: leader.seed });
  const place = placeOf(leader, await running({ namespace, name, uid }), statement);
  const obstacles = [
    ...foreign(record, leader, uid),
    ...notLater(leader, shoot),
    ...(seed === undefined ? [`Seed ${leader.seed}, which ${record} names, does not exist: create it first`] : []),
    ...(typeof place === "string" ? [place] : []),
  ];
  if (obstacles.length > 0 || typeof place === "string") return obstacles;
  return { record, leader, before: shoot.status?.leadership, place };
}

/** Reports whether a recovery has written this leader into the status. */
export function isTakenFromRecord(status: Shoot["status"], leader: Leader): boolean {
  const { leadership, lastOperation } = status ?? {};
  if (leadership?.seed !== leader.seed || leadership.epoch !== leader.epoch) return false;
  return lastOperation?.description === describeRecovery(leader);
}

/** The `lastOperation.description` after a recovery, until an operation begins. */
export const describeRecovery = ({ seed, epoch }: Leader): string =>
  `Leadership was taken over from the record: Seed ${seed} leads in epoch ${epoch}`;

type Turn = Pick<Leader, "seed" | "epoch">;

/** A server that is silent, or lags behind, may know of a later leader, or still name an earlier one to a seed. */
function findDissent(answers: readonly ServerAnswer[]): string[] {
  const named = new Set(answers.map(({ leader }) => JSON.stringify([leader?.seed, leader?.epoch, leader?.shoot])));
  if (named.size === 1 && answers.every(({ error }) => error === undefined)) return [];
  return answers.map(({ server, leader, error }) =>
    error === undefined
      ? `server ${server} names ${leader === undefined ? "no leader" : describe(leader)}: all servers have to agree`
      : `server ${server} does not answer (${error.message}): all servers have to agree`,
  );
}

function foreign(record: string, { shoot }: Leader, uid: string): string[] {
  if (shoot === uid) return [];
  const owner =
    shoot === undefined ? "does not name the uid of its Shoot" : `is the record of a Shoot with uid ${shoot}`;
  return [`${record} ${owner}, and metadata.uid of this Shoot is ${uid}: these may be two clusters`];
}

/** An epoch only grows. Where the status has it already, only a recovery that was cut off is to be finished. */
function notLater(leader: Leader, { spec, status }: Shoot): string[] {
  const before = status?.leadership;
  if (before === undefined || leader.epoch > before.epoch) return [];
  if (leader.epoch < before.epoch)
    return [
      `status.leadership names ${describe(before)}, and the record ${describe(leader)}, which is earlier: Reconcile corrects the record`,
    ];
  if (leader.seed !== before.seed)
    return [
      `status.leadership names ${describe(before)}, and the record ${describe(leader)}: one epoch has two leaders`,
    ];
  if (spec.seedName !== leader.seed && isTakenFromRecord(status, leader)) return [];
  return [`status.leadership names ${describe(leader)}, as the record does: there is nothing to recover`];
}

function placeOf(leader: Leader, running: ShootRun | undefined, { whole, restoreFrom }: Statement): Place | string {
  if (running !== undefined && running.epoch > leader.epoch)
    return `${running.operation} of epoch ${running.epoch} is running, which is later than the record: wait until it has ended`;
  if (running?.epoch === leader.epoch) return placeIn(running);
  if (restoreFrom !== undefined) return { is: "arriving", from: restoreFrom };
  if (whole) return { is: "whole" };
  return `no operation of epoch ${leader.epoch} is running: look whether Seed ${leader.seed} has the Shoot's whole control plane, and add --whole, or --restore-from SEED while Restore is not over`;
}

function placeIn({ operation, migration }: ShootRun): Place {
  if (operation === "Migrate") return { is: "leaving" };
  if (operation !== "Restore" || migration === undefined || migration.returning) return { is: "whole" };
  return { is: "arriving", from: migration.source };
}

const describe = ({ seed, epoch }: Turn): string => `${seed} in epoch ${epoch}`;

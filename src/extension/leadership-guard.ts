import { leadershipOf } from "../api/extensions/leadership.ts";
import type { Leadership } from "../api/index.ts";
import { areTwoShoots, isLeader, type Leader } from "../dns/index.ts";
import type { Logger } from "../log.ts";
import { errorMessage, OperationRefused } from "./errors.ts";
import { inWords, refOf } from "../kube/index.ts";
import { openGuard, type Guard } from "./guard.ts";
import { acquireLease, monotonicClock, type Clock } from "./lease.ts";

/** How the guard asks for leaders; `clock` is the process's monotonic clock unless a test passes another. */
export interface LeadershipGuardOptions {
  /** What the zone's own servers, never a cache, say of a record; throws when they don't answer. */
  readonly ask: (record: string) => Promise<Leader | undefined>;
  readonly log: Logger;
  readonly clock?: Clock;
}

/**
 * Lets an operation run only while the object's Seed leads (GEP-1): asks before it and while it runs, and stops it when
 * another leads, or when nothing confirmed in time that this one does. It fails closed; an object that names no record
 * is always allowed.
 *
 * What it cannot do: a process that is stopped after it looked at its permit, and before its call leaves it, makes the
 * call when it goes on. Together with the time that a call is under way, such pauses have to stay below 0.6 leases; then
 * two leases, counted from when all servers name the next leader, are enough for it even when clocks are 10 % off.
 */
export function createLeadershipGuard({ ask, log, clock = monotonicClock }: LeadershipGuardOptions): Guard {
  return {
    async enter(operation) {
      const who = inWords(refOf(operation.object));
      try {
        const leadership = leadershipOf(operation.object);
        if (leadership === undefined) return await openGuard.enter(operation);
        const { record, leaseSeconds } = leadership;
        const lease = await acquireLease({
          duration: leaseSeconds * 1000,
          confirm: async () => requireLeader(leadership, await ask(record), who),
          isLoss: (error) => error instanceof OperationRefused,
          expired: () =>
            new OperationRefused(`cannot act for ${who}: nothing confirmed ${record} for ${leaseSeconds} s`),
          clock,
        });
        lease.signal.addEventListener("abort", () =>
          log.warn({ record, object: who, err: asError(lease.signal.reason) }, "leadership lost"),
        );
        return lease;
      } catch (error) {
        if (error instanceof OperationRefused) throw error;
        throw new OperationRefused(`cannot act for ${who}: ${errorMessage(error)}`, { cause: error });
      }
    },
  };
}

/** No record is no answer, rather than another's claim: what runs may go on until its lease ends. */
function requireLeader({ record, value, epoch, shoot }: Leadership, leader: Leader | undefined, who: string): void {
  if (leader === undefined) throw new Error(`${record} names no leader`);
  const own = { seed: value, epoch: epoch ?? leader.epoch, ...(shoot !== undefined && { shoot }) };
  if (isLeader(leader, own)) return;
  if (areTwoShoots(leader, own))
    throw new OperationRefused(
      `cannot act for ${who}: ${record} is that of another Shoot of the same name, with uid ${leader.shoot}`,
    );
  const wanted = epoch === undefined ? value : `${value} in epoch ${epoch}`;
  throw new OperationRefused(
    `cannot act for ${who}: ${record} names ${leader.seed} in epoch ${leader.epoch}, not ${wanted}`,
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

import { addLearner } from "./add-learner.ts";
import type { Member } from "./answers.ts";
import { EtcdError, type Etcdctl } from "./etcdctl.ts";
import { findStale } from "./find-stale.ts";
import type { Newcomer } from "./initial-cluster.ts";
import { refusal, type Waiting } from "./insist.ts";
import { moveLeaderAway } from "./move-leader.ts";
import { promote, untilSynced } from "./promote.ts";
import { removeMember, type Removal } from "./remove-member.ts";
import { createScope, type Timeouts } from "./scope.ts";
import type { MemberStatus } from "./status.ts";

/**
 * Who belongs to an etcd cluster. Each call may be made again after it was interrupted, waits for what passes by itself, and throws a
 * MembershipError, or the reason of the signal when that is aborted. Ids are those of `Member`.
 */
export interface Membership {
  /** As a quorum agrees, without any wait. */
  readMembers(): Promise<Member[]>;
  /** What each member says of itself, also without a quorum; one that is silent takes three seconds. */
  readStatus(): Promise<MemberStatus[]>;
  /**
   * Makes the newcomer a learner; one that is a member already, also one with a vote, is given as it is. It has to have the
   * data that it had: whose disk was lost is stale, and goes first. Retryable while another one is a learner.
   */
  addLearner(newcomer: Newcomer): Promise<Member>;
  /** Returns when the member has started and has, but for a few entries, what the leader has; tells its lag. */
  untilSynced(id: string): Promise<void>;
  /** Gives a learner its vote as soon as etcd finds it in sync. */
  promote(id: string): Promise<void>;
  /** Has another member lead, if this one does. Answers with the id of the one that leads. */
  moveLeaderAway(from: string): Promise<string>;
  /** Refuses what would leave the rest without a quorum. Move the leader away first. */
  removeMember(id: string, removal?: Removal): Promise<void>;
  /** The dead member of this name, which a newcomer of the same name has to replace: `removeMember`, then `addLearner`. */
  findStale(member: Pick<Newcomer, "name">): Promise<Member | undefined>;
}

/** What a membership is read and changed by. */
export interface MembershipOptions extends Waiting {
  readonly etcdctl: Etcdctl;
  readonly timeouts?: Partial<Timeouts>;
}

/** The members of the etcd that `etcdctl` reaches. */
export function createMembership({ etcdctl, timeouts, ...waiting }: MembershipOptions): Membership {
  const scope = createScope(etcdctl, waiting, { ...usual, ...timeouts });
  return {
    readMembers: async () => await reading("read who the members of etcd are", () => scope.list()),
    readStatus: async () =>
      await reading("read how the members of etcd are", async () => scope.askEach(await scope.list("as one knows"))),
    addLearner: async (newcomer) => await addLearner(scope, newcomer),
    untilSynced: async (id) => await untilSynced(scope, id),
    promote: async (id) => await promote(scope, id),
    moveLeaderAway: async (from) => await moveLeaderAway(scope, from),
    removeMember: async (id, removal = {}) => await removeMember(scope, id, removal),
    findStale: async ({ name }) => await findStale(scope, name),
  };
}

/** A large database takes long to arrive; a restart takes seconds. */
const usual: Timeouts = { change: 60_000, sync: 300_000, silence: 10_000 };

async function reading<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof EtcdError) throw refusal(what, error);
    throw error;
  }
}

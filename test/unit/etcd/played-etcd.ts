import type { Member } from "../../../src/etcd/answers.ts";
import { EtcdError, type Asking, type Etcdctl } from "../../../src/etcd/etcdctl.ts";
import { createMembership, type Membership } from "../../../src/etcd/members.ts";
import type { Timeouts } from "../../../src/etcd/scope.ts";
import type { MemberStatus } from "../../../src/etcd/status.ts";

/** A member that has started and has a vote, but for what is said of it. */
export function member(differing: Partial<Member> & Pick<Member, "id">): Member {
  const { id, name = id } = differing;
  const urls = { peerURLs: [`http://${id}:2380`], clientURLs: [`http://${id}:2379`] };
  return { ...{ name, isLearner: false, started: true }, ...urls, ...differing };
}

/** The status of a member that answers and knows a leader, but for what is said of it. */
export function answering(
  of: Member,
  { leader = "a", lag = 0, term = 2 }: { leader?: string; lag?: number; term?: number } = {},
): MemberStatus {
  const indexes = { term, raftIndex: 5_000, appliedIndex: 5_000 - lag };
  return { member: of, answers: true, version: "3.6.10", dbSize: 1, errors: [], leader, ...indexes };
}

/** The answer to `member list`: numbers are text, ids are decimal, and what is empty or false is left out. */
export const listed = (...members: readonly Member[]): unknown => ({
  members: members.map(({ id, name, peerURLs, clientURLs, isLearner }) => ({
    ...{ ID: decimal(id), name, peerURLs, clientURLs },
    ...(isLearner && { isLearner }),
  })),
});

/** The answer to `endpoint status` of this member; without a leader where that is empty. */
export const told = (id: string, { leader = "a", lag = 0 }: { leader?: string; lag?: number } = {}): unknown => [
  {
    Status: {
      header: { member_id: decimal(id) },
      version: "3.6.10",
      ...(leader !== "" && { leader: decimal(leader) }),
      raftIndex: "5000",
      raftAppliedIndex: String(5_000 - lag),
    },
  },
];

/** A membership of an etcd whose answers are these functions of a command, and what it has told. */
export function playedMembership(
  answer: (command: string, how: Asking) => unknown,
  timeouts: Partial<Timeouts> = {},
): {
  readonly membership: Membership;
  readonly told: readonly string[];
} {
  const messages: string[] = [];
  const etcdctl: Etcdctl = { ask: async (args, how = {}) => answer(args.join(" "), how) };
  const { signal } = new AbortController();
  const tell = (message: string) => void messages.push(message);
  return { membership: createMembership({ etcdctl, timeouts, signal, tell }), told: messages };
}

/** As etcdctl fails. */
export const refusing = (reason: string): never => {
  throw new EtcdError(reason, undefined);
};

const decimal = (hex: string): string => BigInt(`0x${hex}`).toString();

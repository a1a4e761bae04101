import type { Member } from "./answers.ts";
import type { EtcdError, Etcdctl } from "./etcdctl.ts";
import type { Waiting } from "./insist.ts";
import { MembershipError } from "./membership-error.ts";
import { quorumOf } from "./quorum.ts";
import { askEach, askMember, listMembers, nameOf, type MemberStatus } from "./status.ts";

/** How long, in ms, is waited: for etcd to take a change; for a learner that gets no closer; for a silent member before it counts as dead. */
export interface Timeouts {
  readonly change: number;
  readonly sync: number;
  readonly silence: number;
}

/** One etcd cluster, seen by one caller. */
export interface Scope extends Waiting {
  readonly timeouts: Timeouts;
  /** As a quorum agrees; or, also without a quorum, as the one knows that answers. Throws an EtcdError. */
  list(agreed?: "as one knows"): Promise<Member[]>;
  /** Throws a MembershipError where there is no such member. */
  find(id: string, what: string): Promise<Member>;
  ask(member: Member): Promise<MemberStatus>;
  askEach(members: readonly Member[]): Promise<MemberStatus[]>;
  /** Tells etcd to do something, by one of its usual endpoints or by these. */
  command(args: readonly string[], endpoints?: readonly string[]): Promise<void>;
  /** Who keeps etcd from doing what it refuses for now. */
  explain(error: EtcdError): Promise<string>;
}

/** Puts it together. */
export function createScope(etcdctl: Etcdctl, { signal, tell }: Waiting, timeouts: Timeouts): Scope {
  const list: Scope["list"] = async (agreed) => await listMembers(etcdctl, signal, agreed);
  return {
    ...{ signal, tell, timeouts, list },
    async find(id, what) {
      const member = (await list()).find((one) => one.id === id);
      if (member) return member;
      throw new MembershipError(`cannot ${what}: the cluster has no such member`, { retryable: false });
    },
    ask: async (member) => await askMember(etcdctl, member, signal),
    askEach: async (members) => await askEach(etcdctl, members, signal),
    async command(args, endpoints) {
      await etcdctl.ask(args, { signal, ...(endpoints === undefined ? {} : { endpoints }) });
    },
    async explain({ message }) {
      const members = await list("as one knows").catch(() => []);
      const voters = members.filter(({ isLearner }) => !isLearner);
      return explanation(message, await askEach(etcdctl, voters, signal));
    },
  };
}

function explanation(said: string, voters: readonly MemberStatus[]): string {
  const silent = voters.filter(({ answers }) => !answers).map(({ member }) => nameOf(member));
  const begin = `etcd is not ready for it: ${said}`;
  if (silent.length === 0) return begin;
  const needed = quorumOf(voters.length);
  const quorumIsThere = voters.length - silent.length >= needed;
  const remedy = quorumIsThere ? "start or remove what is silent" : `${needed} of ${voters.length} have to run`;
  return `${begin}; no answer from ${silent.join(" and ")}: ${remedy}`;
}

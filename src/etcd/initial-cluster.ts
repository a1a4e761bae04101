import type { Member } from "./answers.ts";
import { MembershipError } from "./membership-error.ts";

/** A member that is to start: its name, and where others reach it. */
export interface Newcomer {
  readonly name: string;
  readonly peerURL: string;
}

/** The values of etcd's flags of these names. */
export interface InitialCluster {
  readonly initialCluster: string;
  readonly initialClusterState: "existing";
}

/** What a member that was added is started with. Throws a MembershipError where it was not added, or where another one has its name. */
export function initialCluster(members: readonly Member[], self: Newcomer): InitialCluster {
  const isSelf = ({ peerURLs }: Member): boolean => peerURLs.includes(self.peerURL);
  const refuse = (reason: string): never => {
    throw new MembershipError(`cannot start member ${self.name} (${self.peerURL}): ${reason}`, { retryable: false });
  };
  if (!members.some(isSelf)) refuse("it is not among the members of the cluster; add it first");
  if (members.some((member) => member.name === self.name && !isSelf(member)))
    refuse("another member has its name; remove that one, or choose another name");
  // One that has not started has no name yet, and etcd compares nothing but URLs.
  const named = members.map((member) => ({ ...member, name: isSelf(member) ? self.name : member.name || member.id }));
  const parts = named.flatMap(({ name, peerURLs }) => peerURLs.map((url) => `${name}=${url}`));
  return { initialCluster: parts.toSorted().join(","), initialClusterState: "existing" };
}

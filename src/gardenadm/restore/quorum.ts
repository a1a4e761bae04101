import { quorumOf, votes } from "../../etcd/quorum.ts";
import { nameOf, type MemberStatus } from "../../etcd/status.ts";
import type { EtcdRole } from "../../components/index.ts";
import { OperatorError } from "../steps/fault.ts";

/** What the member of a node says of all of them, or that it says nothing. */
export type View = readonly MemberStatus[] | Unasked;

/** A node whose member has said nothing. */
export interface Unasked {
  readonly node: string;
  readonly reason: string;
  /** It is there, and may be at work: it could not be asked. */
  readonly isThere: boolean;
}

/**
 * Throws an OperatorError where by one of these views, of which the first is the survivor's own, it must not become a cluster of its
 * own. The others are asked, too: a survivor that does not run, or was taken out, does not know that they are at work. One that is
 * there and could not be asked counts as one that answers. Where none answers, people have to say that they are lost.
 */
export function refuseQuorum(role: EtcdRole, views: readonly View[], isLost: boolean): void {
  const refuse = (why: string): never => {
    throw new OperatorError(`etcd-${role}${why}`);
  };
  for (const view of views) {
    const refused = isUnasked(view) ? undefined : refusalToSurvive(view, isLost);
    if (refused !== undefined) refuse(`: ${refused}`);
  }
  const unasked = views.filter(isUnasked);
  const there = unasked.filter(({ isThere }) => isThere);
  const answering = views.length - unasked.length + there.length;
  const [first] = there;
  if (first !== undefined && answering >= quorumOf(views.length))
    refuse(
      `: quorum may not be lost: ${answering} of ${views.length} members are there, of which ${there.map(({ node }) => node).join(" and ")} could not be asked: ${first.reason}; see how they are by 'gardenadm status' there, and switch off for good what is lost`,
    );
  const [own] = views;
  if (isLost || own === undefined || !isUnasked(own)) return;
  const state = own.isThere ? `is there, and could not be asked: ${own.reason}` : "does not answer";
  refuse(
    ` of this machine ${state}, so that no member says how the others are: ${own.isThere ? "put that right" : "start it"}, or, where all others are lost for good, add --yes-quorum-is-lost`,
  );
}

const isUnasked = (view: View): view is Unasked => "isThere" in view;

/**
 * Why a survivor must not become a cluster of its own; undefined where it may. `isLost` says that people know that the members
 * which do not answer will not come back: where a quorum is at work, they cannot know that.
 */
export function refusalToSurvive(statuses: readonly MemberStatus[], isLost: boolean): string | undefined {
  const voters = statuses.filter(({ member }) => !member.isLearner);
  const needed = quorumOf(voters.length);
  const working = voters.filter(votes).length;
  if (working >= needed)
    return `quorum is not lost: ${working} of ${voters.length} members are at work; replace what is lost by 'gardenadm join --control-plane' on a fresh machine`;
  const answering = voters.filter(({ answers }) => answers).length;
  if (answering >= needed)
    return `${answering} of ${voters.length} members answer, and have no leader yet: wait until they have`;
  if (isLost) return undefined;
  const silent = voters.filter(({ answers }) => !answers).map(({ member }) => nameOf(member));
  return `quorum may come back: ${silent.join(" and ")} may only be off or cut off, and what they have then would be lost; switch them on, or, where they are lost for good, add --yes-quorum-is-lost`;
}

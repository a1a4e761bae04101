import { quorumOf, votes } from "../../etcd/quorum.ts";
import { nameOf, type MemberStatus } from "../../etcd/status.ts";
import type { EtcdRole } from "../../components/index.ts";
import { OperatorError } from "../steps/fault.ts";

/** What one member says of all of them, or why it says nothing. */
export type View = readonly MemberStatus[] | Error;

/**
 * Throws an OperatorError where by one of these views, of which the first is the survivor's own, it must not become a cluster of its
 * own. The others are asked, too: a survivor that does not run, or was taken out, does not know that they are at work. Where none
 * answers, people have to say that they are lost.
 */
export function refuseQuorum(role: EtcdRole, views: readonly View[], isLost: boolean): void {
  for (const view of views) {
    const refused = view instanceof Error ? undefined : refusalToSurvive(view, isLost);
    if (refused !== undefined) throw new OperatorError(`etcd-${role}: ${refused}`);
  }
  const [own] = views;
  if (isLost || !(own instanceof Error)) return;
  throw new OperatorError(
    `etcd-${role} of this machine does not answer, so that no member says how the others are: start it, or, where all others are lost for good, add --yes-quorum-is-lost`,
    { cause: own },
  );
}

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

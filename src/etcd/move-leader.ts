import { insist, type Found } from "./insist.ts";
import { MembershipError } from "./membership-error.ts";
import { isSmall, lagBehind } from "./promote.ts";
import type { Scope } from "./scope.ts";
import { nameOf, type Answering, type MemberStatus } from "./status.ts";

/** Makes another member lead, unless one does: one with a vote that is in sync. Answers with the id of who leads then. */
export async function moveLeaderAway(scope: Scope, from: string): Promise<string> {
  const what = `make another member lead instead of ${from}`;
  let attempt = 0;
  const task = { what, within: scope.timeouts.change, explain: scope.explain };
  return await insist(task, scope, async (): Promise<Found<string>> => {
    const statuses = await scope.askEach(await scope.list());
    const leading = leaderOf(statuses);
    if (leading === undefined) return { waitsFor: "no member knows a leader" };
    if (leading !== from) return { done: leading };
    if (statuses.every(({ member }) => member.isLearner || member.id === from))
      throw new MembershipError(`cannot ${what}: no other member has a vote; add one first`, { retryable: false });
    const leader = statuses.filter(isAnswering).find(({ member }) => member.id === from);
    if (leader === undefined) return { waitsFor: "the leader does not answer" };
    const heirs = heirsOf(leader, statuses);
    // One that has just got its vote may be too slow: each in its turn.
    const heir = heirs[attempt++ % heirs.length];
    if (heir === undefined) return { waitsFor: "no other member with a vote is in sync with the leader" };
    scope.tell(`${nameOf(heir.member)} is to lead`);
    await scope.command(["move-leader", heir.member.id], leader.member.clientURLs);
    return { done: heir.member.id };
  });
}

/** Who leads, by the newest of the answers. */
export function leaderOf(statuses: readonly MemberStatus[]): string | undefined {
  return statuses
    .filter(isAnswering)
    .filter(({ leader }) => leader !== undefined)
    .toSorted((one, other) => other.term - one.term)[0]?.leader;
}

const isAnswering = (status: MemberStatus): status is Answering => status.answers;

/** Those that may lead, the most advanced first. */
function heirsOf(leader: Answering, statuses: readonly MemberStatus[]): Answering[] {
  return statuses
    .filter(isAnswering)
    .filter(({ member }) => !member.isLearner && member.id !== leader.member.id)
    .filter((status) => isSmall(lagBehind(leader, status)))
    .toSorted((one, other) => other.appliedIndex - one.appliedIndex);
}

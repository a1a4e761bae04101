import type { Member } from "./answers.ts";
import type { Newcomer } from "./initial-cluster.ts";
import { insist, type Found } from "./insist.ts";
import { MembershipError } from "./membership-error.ts";
import type { Scope } from "./scope.ts";
import { nameOf } from "./status.ts";

/** Makes the newcomer a member without a vote, unless it is a member already, and answers with it. */
export async function addLearner(scope: Scope, newcomer: Newcomer): Promise<Member> {
  const what = `add member ${newcomer.name} (${newcomer.peerURL})`;
  const task = { what, within: scope.timeouts.change, explain: scope.explain };
  return await insist(task, scope, async (): Promise<Found<Member>> => {
    const members = await scope.list();
    const known = members.find(({ peerURLs }) => peerURLs.includes(newcomer.peerURL));
    const obstacle = obstacleTo(newcomer, known, members);
    if (obstacle !== undefined) throw new MembershipError(`cannot ${what}: ${obstacle.reason}`, obstacle);
    if (known) return { done: known };
    await scope.command(["member", "add", newcomer.name, `--peer-urls=${newcomer.peerURL}`, "--learner"]);
    return { waitsFor: "etcd has added it" }; // the next look finds it, with its id
  });
}

/** What has to be put right first. One that has not started yet has no name, and is known by its URL. */
function obstacleTo(
  { name }: Newcomer,
  known: Member | undefined,
  members: readonly Member[],
): { readonly reason: string; readonly retryable: boolean } | undefined {
  if (known) {
    if (!known.started || known.name === name) return undefined;
    return { reason: `${nameOf(known)} is at this address; remove it, or choose another one`, retryable: false };
  }
  const namesake = members.find((member) => member.name === name);
  if (namesake)
    return { reason: `${nameOf(namesake)} has its name; remove it, or choose another name`, retryable: false };
  const learner = members.find(({ isLearner }) => isLearner);
  if (learner === undefined) return undefined;
  const reason = `${nameOf(learner)} has no vote yet, and etcd takes one such member at a time`;
  return { reason: `${reason}; wait until it has one, or remove it`, retryable: true };
}

import type { Member } from "./answers.ts";
import { EtcdError } from "./etcdctl.ts";
import { insist, type Found } from "./insist.ts";
import { MembershipError } from "./membership-error.ts";
import { riskOfRemoval } from "./quorum.ts";
import type { Scope } from "./scope.ts";
import { nameOf } from "./status.ts";

/** What the caller answers for. */
export interface Removal {
  /** The rest may be without a quorum, as far as can be seen from here. etcd has a check of its own, and removes nothing while it has none. */
  readonly quorumIsLost?: boolean;
}

/** Takes the member out of the cluster, unless it is out. Its process ends itself, and its data is worth nothing then. */
export async function removeMember(scope: Scope, id: string, { quorumIsLost = false }: Removal): Promise<void> {
  const what = `remove member ${id}`;
  const task = { what, within: scope.timeouts.change, explain: scope.explain };
  await insist(task, scope, async (): Promise<Found<true>> => {
    const members = await scope.list();
    const member = members.find((one) => one.id === id);
    if (member === undefined) return { done: true };
    if (!quorumIsLost) await refuseLoss(scope, members, member);
    try {
      await scope.command(["member", "remove", id]);
    } catch (error) {
      if (!(error instanceof EtcdError && error.message.endsWith("member not found"))) throw error;
    }
    return { done: true };
  });
}

async function refuseLoss(scope: Scope, members: readonly Member[], member: Member): Promise<void> {
  if (member.isLearner) return;
  const risk = riskOfRemoval(await scope.askEach(members.filter(({ isLearner }) => !isLearner)), member.id);
  if (risk) throw new MembershipError(`cannot remove ${nameOf(member)}: ${risk.reason}`, risk);
}

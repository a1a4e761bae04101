import { EtcdError } from "./etcdctl.ts";
import { insist, type Found } from "./insist.ts";
import type { Scope } from "./scope.ts";
import { nameOf, type Answering } from "./status.ts";

/** In entries of its log: how far behind the leader a member may be that counts as in sync with it. */
const SMALL_LAG = 100;

/** How many entries a member's data is behind what the leader knows to be agreed upon. Ask the leader first: what is written meanwhile is no lag. */
export function lagBehind(leader: Answering, { appliedIndex }: Answering): number {
  return Math.max(0, leader.raftIndex - appliedIndex);
}

/** Whether such a lag is caught up with in a moment. */
export function isSmall(lag: number): boolean {
  return lag <= SMALL_LAG;
}

/** Returns when the member has what the leader has, but for a few entries; tells how far behind it is. */
export async function untilSynced(scope: Scope, id: string): Promise<void> {
  const what = `sync member ${id}`;
  let least = Infinity;
  await insist({ what, within: scope.timeouts.sync }, scope, async (): Promise<Found<true>> => {
    const member = await scope.find(id, what);
    const name = nameOf(member);
    if (!member.started) return { waitsFor: `${name} has not started yet` };
    const before = await scope.ask(member);
    if (!before.answers) return { waitsFor: `${name} does not answer: ${before.reason}` };
    const leading = (await scope.list()).find((one) => one.id === before.leader);
    const leader = leading && (await scope.ask(leading));
    if (!leader?.answers) return { waitsFor: `${name} knows no leader that answers` };
    const now = await scope.ask(member);
    if (!now.answers) return { waitsFor: `${name} does not answer: ${now.reason}` };
    const lag = lagBehind(leader, now);
    if (isSmall(lag)) return { done: true };
    least = Math.min(least, lag);
    return { waitsFor: `${name} is ${lag} entries behind the leader`, progress: String(least) };
  });
}

/** Gives the learner its vote, unless it has it. */
export async function promote(scope: Scope, id: string): Promise<void> {
  const what = `promote member ${id}`;
  const task = { what, within: scope.timeouts.change, explain: scope.explain };
  await insist(task, scope, async (): Promise<Found<true>> => {
    const member = await scope.find(id, what);
    if (!member.isLearner) return { done: true };
    try {
      await scope.command(["member", "promote", id]);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      if (error.message.endsWith("in sync with leader"))
        return { waitsFor: `${nameOf(member)} is not in sync with the leader yet` };
      if (!error.message.endsWith("can only promote a learner member")) throw error;
      return { waitsFor: `${nameOf(member)} has its vote by now` }; // another call was first: the next look sees it
    }
    return { done: true };
  });
}

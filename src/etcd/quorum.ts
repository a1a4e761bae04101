import type { MemberStatus } from "./status.ts";
import { nameOf } from "./status.ts";

/** What stands against taking a member away, and whether that may pass without people. */
export interface Risk {
  readonly reason: string;
  readonly retryable: boolean;
}

/** How many of so many voters have to agree. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** Whether a member has a vote and is in touch with a leader. */
export function votes(status: MemberStatus): boolean {
  return !status.member.isLearner && status.answers && status.leader !== undefined;
}

/** What the rest of the cluster would lack without the member of this id; nothing where it has a quorum. A learner may always go. */
export function riskOfRemoval(statuses: readonly MemberStatus[], id: string): Risk | undefined {
  const voters = statuses.filter(({ member }) => !member.isLearner);
  const others = voters.filter(({ member }) => member.id !== id);
  if (others.length === voters.length) return undefined;
  if (others.length === 0) return { reason: "it is the only one with a vote", retryable: false };
  const healthy = others.filter(votes);
  const needed = quorumOf(others.length);
  if (healthy.length >= needed) return undefined;
  const missing = others.filter((other) => !votes(other)).map(({ member }) => nameOf(member));
  const reason = `of the ${others.length} others with a vote, ${healthy.length} would be at work, and ${needed} have to`;
  return { reason: `${reason}; start ${missing.join(" and ")} first`, retryable: true };
}

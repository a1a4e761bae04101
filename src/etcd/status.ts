import { membersIn, statusIn, type Member, type OwnStatus } from "./answers.ts";
import { EtcdError, type Etcdctl } from "./etcdctl.ts";

/** A member, and what it says of itself; or why it says nothing. */
export type MemberStatus = { readonly member: Member } & (
  ({ readonly answers: true } & Omit<OwnStatus, "id">) | { readonly answers: false; readonly reason: string }
);

/** The status of one that answers. */
export type Answering = Extract<MemberStatus, { answers: true }>;

/** Who the members are, as a quorum of them agrees; or, also without a quorum, as the one knows that answers. */
export async function listMembers(etcdctl: Etcdctl, signal: AbortSignal, agreed?: "as one knows"): Promise<Member[]> {
  const consistency = agreed === undefined ? "l" : "s";
  return membersIn(await etcdctl.ask(["member", "list", `--consistency=${consistency}`], { signal }));
}

/** Asks each of the members, all at once. */
export async function askEach(
  etcdctl: Etcdctl,
  members: readonly Member[],
  signal: AbortSignal,
): Promise<MemberStatus[]> {
  return await Promise.all(members.map((member) => askMember(etcdctl, member, signal)));
}

/**
 * Asks a member at its client URLs, one after the other, until it answers. Another one in its place, as after a disk was
 * lost or an address was given away, is no answer.
 */
export async function askMember(etcdctl: Etcdctl, member: Member, signal: AbortSignal): Promise<MemberStatus> {
  let reason = "it has never started";
  for (const url of member.clientURLs) {
    try {
      const asking = { endpoints: [url], timeout: LONGEST_ANSWER, signal };
      const { id, ...status } = statusIn(await etcdctl.ask(["endpoint", "status"], asking));
      if (id === member.id) return { member, answers: true, ...status };
      reason = `at ${url}, another member answers`;
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      reason = error.message;
    }
  }
  return { member, answers: false, reason };
}

/** In s. A member answers this by itself; what takes longer is away, or as good as. */
const LONGEST_ANSWER = 3;

/** A member as people are told of it. */
export function nameOf({ name, id, peerURLs }: Member): string {
  return `member ${name === "" ? id : name} (${peerURLs.join(", ")})`;
}

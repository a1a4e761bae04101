import { ETCDS, etcdPorts, nodeUrl, type EtcdRole } from "../../components/index.ts";
import { lagBehind } from "../../etcd/promote.ts";
import type { Answering, MemberStatus } from "../../etcd/status.ts";
import { isMemberThere, membershipAt, ownFault } from "../cluster/members.ts";
import { ELSEWHERE } from "./backup.ts";
import { readOwnMember } from "../mending/own-member.ts";

/** A member of one of the etcds. */
export interface MemberReport {
  readonly name: string;
  /** A learner receives what is written, and has no vote. */
  readonly role: "leader" | "voter" | "learner";
  readonly answers: boolean;
  /** In entries of the log, behind what the leader knows to be agreed upon; absent where one of both does not answer. */
  readonly lag?: number;
  /** In bytes. */
  readonly size?: number;
  /** Where clients reach it; absent before its first start. */
  readonly url?: string;
  /** Why it does not answer, or what it says is wrong. */
  readonly reason?: string;
}

/** One of the etcds, as far as this machine reaches it. */
export interface EtcdReport {
  readonly name: string;
  /** Absent where no member answers. */
  readonly members?: readonly MemberReport[];
  readonly reason?: string;
  /** A member is there, and could not be asked. */
  readonly isThere?: true;
  /** Why this machine cannot say it, of which nothing is wrong. */
  readonly unknown?: string;
}

/** What a worker, which has no way to any member, says of them. */
export const etcdsOfWorker = (): EtcdReport[] => ETCDS.map((role) => ({ name: `etcd-${role}`, unknown: ELSEWHERE }));

/** In ms: it comes behind the deadline, when no member has answered. */
const LONGEST_LOOK = 500;

/** Asks all members that this machine knows, until a deadline. Nothing on a machine without an etcd. */
export async function readEtcds(root: string, deadline: AbortSignal): Promise<EtcdReport[]> {
  const reports = ETCDS.map(async (role): Promise<EtcdReport | undefined> => {
    const endpoints = await endpointsOf(role, root);
    if (endpoints.length === 0) return undefined;
    const name = `etcd-${role}`;
    try {
      const membership = membershipAt(endpoints, { root, signal: deadline, tell: () => {} });
      return { name, members: reportMembers(await membership.readStatus()) };
    } catch (error) {
      const reason = deadline.aborted ? "no answer in time" : (error as Error).message;
      const late = AbortSignal.timeout(LONGEST_LOOK);
      const found = await Promise.all(endpoints.map(async (url) => await isMemberThere(url, root, late)));
      const isThere = found.includes(true);
      return { name, reason: (await ownFault(root, Date.now())) ?? reason, ...(isThere && { isThere }) };
    }
  });
  return (await Promise.all(reports)).filter((report) => report !== undefined);
}

/** Of each member: what it is, and how far behind the leader, whose reign is the newest that one of them knows. */
export function reportMembers(statuses: readonly MemberStatus[]): MemberReport[] {
  const answering = statuses.filter((status): status is Answering => status.answers);
  const term = Math.max(0, ...answering.map((status) => status.term));
  const leaderId = answering.find((status) => status.term === term && status.leader !== undefined)?.leader;
  const leader = answering.find(({ member }) => member.id === leaderId);
  const reports = statuses.map((status): MemberReport => {
    const { id, name, isLearner, clientURLs } = status.member;
    const [url] = clientURLs;
    const voting = id === leaderId ? "leader" : "voter";
    const role: MemberReport["role"] = isLearner ? "learner" : voting;
    const known = { name: name === "" ? id : name, role, answers: status.answers, ...(url !== undefined && { url }) };
    if (!status.answers) return { ...known, reason: status.reason };
    return {
      ...known,
      ...(leader && { lag: lagBehind(leader, status) }),
      size: status.dbSize,
      ...(status.errors.length > 0 && { reason: status.errors.join(", ") }),
    };
  });
  return reports.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The client URLs of the members that the settings of this machine's own one name, its own first. */
async function endpointsOf(role: EtcdRole, root: string): Promise<string[]> {
  const own = await readOwnMember(role, root).catch(() => undefined);
  if (own === undefined) return [];
  const { client } = etcdPorts(role, { nodes: [] });
  return [`https://127.0.0.1:${client}`, ...own.others.map((node) => nodeUrl(node, client))];
}

import { z } from "zod";

/** A member of an etcd cluster. */
export interface Member {
  /** In hexadecimal, as etcd's commands and logs write it. */
  readonly id: string;
  /** Empty until it has started for the first time: it brings its name with it. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  /** It receives what is written, and has no vote. */
  readonly isLearner: boolean;
  /** It has started once; whether it runs, its status says. */
  readonly started: boolean;
}

/** What a member says of itself. */
export interface OwnStatus {
  /** Who answers. */
  readonly id: string;
  readonly version: string;
  /** In bytes. */
  readonly dbSize: number;
  /** The member that leads, as this one sees it; absent while there is no quorum. */
  readonly leader?: string;
  /** The number of that leader's reign: of two answers, the one with the higher term is the newer. */
  readonly term: number;
  /** The last entry that it knows to be agreed upon, and the last one that is in its data. */
  readonly raftIndex: number;
  readonly appliedIndex: number;
  /** What is wrong with it, such as alarms. */
  readonly errors: readonly string[];
}

/** Reads the answer to `member list`. */
export function membersIn(answer: unknown): Member[] {
  return memberList.parse(answer).members.map(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
    ...{ id: ID, name, peerURLs, clientURLs, isLearner },
    started: name !== "",
  }));
}

/** Reads the answer to `endpoint status` of one endpoint. */
export function statusIn(answer: unknown): OwnStatus {
  const [{ Status }] = statusList.parse(answer);
  const { header, version, dbSize, leader, raftTerm, raftIndex, raftAppliedIndex, errors } = Status;
  const indexes = { term: raftTerm, raftIndex, appliedIndex: raftAppliedIndex };
  const own = { id: header.member_id, version, dbSize, ...indexes, errors };
  return { ...own, ...(leader === undefined ? {} : { leader }) };
}

const id = z
  .string()
  .regex(/^\d+$/)
  .transform((digits) => BigInt(digits).toString(16));

/** What is zero or empty, etcd leaves out. */
const count = z.string().default("0").transform(Number);
const texts = z.array(z.string()).default([]);

const memberList = z.object({
  members: z.array(
    z.object({
      ID: id,
      name: z.string().default(""),
      peerURLs: texts,
      clientURLs: texts,
      isLearner: z.boolean().default(false),
    }),
  ),
});

const statusList = z.tuple([
  z.object({
    Status: z.object({
      header: z.object({ member_id: id }),
      version: z.string(),
      dbSize: count,
      leader: id.optional(),
      raftTerm: count,
      raftIndex: count,
      raftAppliedIndex: count,
      errors: texts,
    }),
  }),
]);

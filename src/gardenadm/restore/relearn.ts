import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EtcdRole } from "../../components/index.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import type { Logger } from "../../log.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { isThere } from "../is-there.ts";
import type { OwnMember } from "./own-member.ts";

/** A member whose data were bad, and that learns anew from the others. */
export interface Relearning {
  /** What was found, without a remedy. */
  readonly why: string;
  /** Where the old data are, unless there were none. */
  readonly aside?: string;
}

/** What it works with; `root` is the machine's `/`. */
interface Ground {
  readonly root: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const noteIn = (root: string, role: EtcdRole): string => join(root, `/var/lib/gardenadm/backup/learns-${role}.json`);

/** The learning that is to go on here; undefined where none was begun. */
export async function readRelearning(root: string, role: EtcdRole): Promise<Relearning | undefined> {
  const file = noteIn(root, role);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  return text === undefined ? undefined : (parseJson(text, file) as Relearning);
}

/** Puts the bad data of an etcd that is stopped aside, which is noted before. */
export async function beginRelearning(root: string, role: EtcdRole, why: string): Promise<void> {
  const { dataDir } = dataPlaceOf(role, root);
  const aside = (await isThere(dataDir)) ? `${dataDir}.${new Date().toISOString().replaceAll(":", "-")}` : undefined;
  const note: Relearning = { why, ...(aside !== undefined && { aside }) };
  await writeWhole(noteIn(root, role), Buffer.from(`${JSON.stringify(note)}\n`), 0o600);
  if (aside !== undefined) await rename(dataDir, aside);
}

/** Whether the member has to leave before its etcd may start: it has no data, and a vote that it can no longer stand for. */
export const isEmptyHanded = async (root: string, role: EtcdRole): Promise<boolean> =>
  !(await isThere(join(dataPlaceOf(role, root).dataDir, "member")));

/**
 * Takes the member out of its etcd, which is stopped and has no data, and lets it in again without a vote. Throws a MembershipError
 * while the others have no quorum without it.
 */
export async function rejoin(role: EtcdRole, own: OwnMember, ground: Ground): Promise<void> {
  const membership = await membershipOf(role, own, ground);
  const known = (await membership.readMembers()).find(({ peerURLs }) => peerURLs.includes(own.peerURL));
  if (known !== undefined && (known.started || !known.isLearner)) await membership.removeMember(known.id);
  await membership.addLearner(own);
}

/** Returns when the member has what the others have, and a vote; then the learning is over. */
export async function endRelearning(role: EtcdRole, own: OwnMember, ground: Ground): Promise<void> {
  const membership = await membershipOf(role, own, ground);
  const known = (await membership.readMembers()).find(({ peerURLs }) => peerURLs.includes(own.peerURL));
  if (known === undefined) throw new Error(`etcd-${role} has no member at ${own.peerURL}`);
  await membership.untilSynced(known.id);
  await membership.promote(known.id);
  await rm(noteIn(ground.root, role), { force: true });
}

async function membershipOf(role: EtcdRole, { others }: OwnMember, { root, log, signal }: Ground) {
  // An agent that only looks whether there is anything to learn does without what it loads.
  const { membersOf } = await import("../reconcile/members.ts");
  const tell = (message: string) => log.info({ etcd: role, message }, "etcd learns anew");
  return membersOf(role, others, { root, signal, tell });
}

import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EtcdRole } from "../../components/index.ts";
import { MembershipError } from "../../etcd/membership-error.ts";
import { letStart } from "../../etcd-data/let-start.ts";
import { asidePath, dataPlaceOf } from "../../etcd-data/place.ts";
import type { Logger } from "../../log.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { isThere, readIfThere } from "../machine/is-there.ts";
import type { OwnMember } from "./own-member.ts";
import { tellNews } from "../../tell-news.ts";

/** A member whose data were bad, and that learns anew from the others. */
export interface Relearning {
  /** What was found, without a remedy. */
  readonly why: string;
  /** Where the old data are, unless there were none. */
  readonly aside?: string;
  /** The member that had these data is out of its etcd, and the one that learns is in, without a vote. */
  readonly hasLeft?: true;
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
  const text = await readIfThere(file);
  return text === undefined ? undefined : (parseJson(text, file) as Relearning);
}

/** Notes that the etcd, which is stopped, is to learn anew, and where its bad data will be. */
export async function beginRelearning(root: string, role: EtcdRole, why: string): Promise<Relearning> {
  const place = dataPlaceOf(role, root);
  const aside = (await isThere(place.dataDir)) ? asidePath(place, Date.now()) : undefined;
  return await note(root, role, { why, ...(aside !== undefined && { aside }) });
}

async function note(root: string, role: EtcdRole, relearning: Relearning): Promise<Relearning> {
  await writeWhole(noteIn(root, role), Buffer.from(`${JSON.stringify(relearning)}\n`), 0o600);
  return relearning;
}

/**
 * Whether an etcd may start: without its data, a member must not vote as the one that it was, since with one that is behind it would
 * make a quorum that lacks what was agreed upon.
 */
export async function mayStart(root: string, role: EtcdRole): Promise<boolean> {
  const relearning = await readRelearning(root, role);
  return relearning === undefined || relearning.hasLeft === true;
}

/** Nothing is to be learnt any more: it is over, or the etcd has other data, with which it is a cluster of its own. */
export async function forgetRelearning(root: string, role: EtcdRole): Promise<void> {
  await rm(noteIn(root, role), { force: true });
}

/** In ms: others that have no quorum are asked again. */
const PAUSE = 5_000;

/**
 * Takes the member of an etcd that is stopped out, lets it in again without a vote, and then puts its bad data aside, or removes what it
 * has begun without them. Waits while the others have no quorum without it. Each call goes on where a kill has ended the last one.
 */
export async function rejoin(role: EtcdRole, own: OwnMember, learning: Relearning, ground: Ground): Promise<void> {
  const { root, log, signal } = ground;
  const tell = tellNews((reason) => log.warn({ etcd: role, reason }, "etcd stays down"));
  for (; ; await delay(PAUSE, undefined, { signal })) {
    try {
      await replaceMember(role, own, ground);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MembershipError)) throw error;
      tell(error.message);
    }
  }
  const { dataDir } = dataPlaceOf(role, root);
  const isAside = learning.aside === undefined || (await isThere(learning.aside));
  if (isAside) await rm(dataDir, { recursive: true, force: true });
  else await rename(dataDir, learning.aside);
  await letStart(dataDir);
  await note(root, role, { ...learning, hasLeft: true });
}

async function replaceMember(role: EtcdRole, own: OwnMember, ground: Ground): Promise<void> {
  const { membership, known } = await findMember(role, own, ground);
  if (known !== undefined && (known.started || !known.isLearner)) await membership.removeMember(known.id);
  await membership.addLearner(own);
}

/** Returns when the member has what the others have, and a vote; the learning is still to be forgotten then. */
export async function endRelearning(role: EtcdRole, own: OwnMember, ground: Ground): Promise<void> {
  const { membership, known } = await findMember(role, own, ground);
  if (known === undefined) throw new Error(`etcd-${role} has no member at ${own.peerURL}`);
  await membership.untilSynced(known.id);
  await membership.promote(known.id);
}

/** This machine's member as the others know it. */
async function findMember(role: EtcdRole, { others, peerURL }: OwnMember, { root, log, signal }: Ground) {
  // An agent that only looks whether there is anything to learn does without what it loads.
  const { membersOf } = await import("../cluster/members.ts");
  const tell = (message: string) => log.info({ etcd: role, message }, "etcd learns anew");
  const membership = membersOf(role, others, { root, signal, tell });
  return { membership, known: (await membership.readMembers()).find(({ peerURLs }) => peerURLs.includes(peerURL)) };
}

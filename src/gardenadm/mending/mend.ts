import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EtcdRole } from "../../components/index.ts";
import { DataInUseError } from "../../etcd-data/in-use.ts";
import { judgeData, type DataVerdict } from "../../etcd-data/judge.ts";
import { letStart, mayStartWith } from "../../etcd-data/let-start.ts";
import { asidePath, dataPlaceOf } from "../../etcd-data/place.ts";
import type { Exchange, Replaced, Replacement } from "../../etcd-data/replace.ts";
import { restoreNewest } from "../../etcd-data/restore-newest.ts";
import { fetchSnapshot, findSnapshots, type FoundSnapshot } from "../../etcd-data/snapshots.ts";
import { openStore, type SnapshotStore } from "../../etcd-data/store.ts";
import type { Logger } from "../../log.ts";
import { createEtcdTool } from "../../node-agent/commands.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { readBackupAccess, type BackupAccess } from "../machine/backup-access.ts";
import { keepLoss, type Loss } from "./loss.ts";
import { foundingSettings, readOwnMember, type OwnMember } from "./own-member.ts";
import { mendedAside, putManifestsAside, putManifestsBack } from "./manifests.ts";
import { beginRelearning, endRelearning, forgetRelearning, mayStart, rejoin, type Relearning } from "./relearn.ts";
import { isThere } from "../machine/is-there.ts";

/** What mending works with; `root` is the machine's `/`. */
export interface Mending {
  readonly root: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Looks why the etcd of a control-plane node does not come up, with its pod ended, and lets it start again. Where its data are gone
 * or damaged, they are put aside, and a member of several leaves and comes back to learn anew, until when that is not over; on the
 * only node, `main` gets the last good snapshot, and `events` begins empty. Throws where there is none, or no way to it. Answers with
 * what was lost, "learns", and undefined where its data are good, and it fails of something else, such as a disk that is full.
 */
export async function mend(role: EtcdRole, mending: Mending): Promise<Loss | "learns" | undefined> {
  const { root } = mending;
  const member = await readOwnMember(role, root);
  if (member === undefined) return undefined;
  const isAlone = member.others.length === 0;
  return await withoutPod(role, root, async () => {
    const verdict = await judgeEnded(role, mending);
    if (verdict.state !== "missing" && verdict.state !== "corrupt") {
      await letStart(dataPlaceOf(role, root).dataDir);
      return undefined;
    }
    const { why } = verdict;
    mending.log.warn({ etcd: role, why }, "etcd data lost");
    if (!isAlone) {
      await rejoin(role, member, await beginRelearning(root, role, why), mending);
      return "learns";
    }
    if (role === "main") return await restoreLatest(member, await accessFor(root, why), why, mending);
    const loss = { role, why, from: "nothing" };
    const foretell = async (exchange: Exchange) => await keepLoss(root, loss, exchange);
    return { ...loss, ...(await beginEmpty(role, member, root, foretell)) };
  });
}

async function accessFor(root: string, why: string): Promise<BackupAccess> {
  const access = await readBackupAccess(root);
  if (access !== undefined) return access;
  throw new Error(
    `${why}, and this machine does not know where backups are: where there are any, 'gardenadm restore -d config --from latest' on a fresh machine brings the cluster back`,
  );
}

/** Goes on with what `mend` has begun. When that is over, what is to be told is noted before the learning is forgotten. */
export async function goOnLearning(
  role: EtcdRole,
  learning: Relearning,
  mending: Mending,
  alone: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { root } = mending;
  const member = await readOwnMember(role, root);
  if (member === undefined) throw new Error(`there is no etcd-${role} here any more`);
  // A disk that has lost its data once may do so again while they are learnt.
  if (learning.hasLeft !== true || !(await mayStartWith(dataPlaceOf(role, root).dataDir)))
    await alone(async () => {
      await withoutPod(role, root, async () => {
        await judgeEnded(role, mending);
        await rejoin(role, member, learning, mending);
      });
    });
  const { why, aside } = learning;
  await endRelearning(role, member, mending);
  await keepLoss(root, { role, why, from: "the other members", learnt: true, ...(aside !== undefined && { aside }) });
  await forgetRelearning(root, role);
}

/** Does the work while the kubelet has not got the manifest of the etcd, so that it ends it; it gets that back once the etcd may start. */
async function withoutPod<T>(role: EtcdRole, root: string, work: () => Promise<T>): Promise<T> {
  const aside = mendedAside(root, role);
  await putManifestsAside(root, aside, [`etcd-${role}.yaml`]);
  try {
    return await work();
  } finally {
    if (await mayStart(root, role)) await putManifestsBack(root, aside);
  }
}

/** In ms: a kubelet ends a pod within half a minute. */
const LONGEST_END = 60_000;

async function judgeEnded(role: EtcdRole, { root, signal }: Mending): Promise<DataVerdict> {
  const etcdutl = createEtcdTool(join(root, "/opt/bin/etcdutl"));
  for (const deadline = Date.now() + LONGEST_END; ; await delay(500, undefined, { signal })) {
    try {
      return await judgeData({ etcdutl }, dataPlaceOf(role, root), signal);
    } catch (error) {
      if (!(error instanceof DataInUseError) || Date.now() > deadline) throw error;
    }
  }
}

/** Of the newest snapshot that is whole. */
async function restoreLatest(
  { name, peerURL, token }: OwnMember,
  access: BackupAccess,
  why: string,
  { root, log, signal }: Mending,
): Promise<Loss> {
  const store = openStore(access, join(root, "/opt/bin/rclone"));
  const etcdutl = createEtcdTool(join(root, "/opt/bin/etcdutl"));
  const folder = join(root, "/var/lib/gardenadm/backup/fetched");
  const lossBy = ({ name: called, at }: FoundSnapshot): Loss => ({
    ...{ role: "main", why },
    from: `snapshot ${called} of ${new Date(at).toISOString()}`,
  });
  const done = await restoreNewest(
    { etcdutl },
    {
      ...{ place: dataPlaceOf("main", root), member: { name, peerURL, token }, signal },
      candidates: fetchEach(store, access.uid, { folder, signal }),
      foretell: async ({ found }, exchange) => await keepLoss(root, lossBy(found), exchange),
      skipped: ({ found }, err) => log.warn({ err, snapshot: found.name }, "snapshot not restored"),
    },
  );
  await rm(folder, { recursive: true, force: true });
  if (done === undefined) throw new Error(`there is no snapshot of this cluster in ${store.bucket}`);
  const { restored, replaced } = done;
  return { ...lossBy(restored.found), ...replaced };
}

/** The snapshots of a cluster, the newest first, each fetched when it is asked for. */
async function* fetchEach(
  store: SnapshotStore,
  uid: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): AsyncGenerator<{ readonly found: FoundSnapshot; readonly file: string }> {
  for (const found of await findSnapshots(store, { uid, signal })) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    yield { found, ...(await fetchSnapshot(store, found, { folder, signal })) };
  }
}

/**
 * Has an etcd that is stopped begin an empty cluster of its own, and answers where its old data are. Its settings say that it founds
 * one until they are written the next time.
 */
export async function beginEmpty(
  role: EtcdRole,
  member: OwnMember,
  root: string,
  foretell: Replacement["foretell"] = async () => {},
): Promise<Replaced> {
  const place = dataPlaceOf(role, root);
  const replaced = (await isThere(place.dataDir)) ? { aside: asidePath(place, Date.now()) } : {};
  await foretell(replaced);
  await writeWhole(member.file, Buffer.from(foundingSettings(member)), 0o644);
  if (replaced.aside !== undefined) await rename(place.dataDir, replaced.aside);
  await letStart(place.dataDir);
  return replaced;
}

import { PREVIOUS_BUCKET_ANNOTATION } from "../../api/annotations.ts";
import { BackupEntry } from "../../api/index.ts";
import type { ObjectStore } from "../../api/object-stores.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { storeOf, type ControlPlaneContext } from "../../components/index.ts";
import { refTo, type KubeClient } from "../../kube/index.ts";
import { readContext } from "../control-plane/context.ts";
import { claimRef, damageOn, isFinished } from "./etcd-claim.ts";
import type { SnapshotRecord, SnapshotRecords } from "./record.ts";

/** What a takeover knows before it looks for a newer snapshot. */
export interface Search {
  readonly context: ControlPlaneContext;
  /** The snapshot that would be restored if there were none newer. */
  readonly recorded: SnapshotRecord;
  /** The BackupBucket into which the last leader wrote. */
  readonly bucket: string;
  /** Where pods find the snapshots: in a claim, in this Seed's own bucket, or in another one, in this store. */
  readonly place: "claim" | "own" | ObjectStore;
}

/** Reads the garden, and the claim of etcd in the seed. */
export interface SearchDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: Pick<SnapshotRecords, "latest">;
  /** The store of another seed's bucket; throws where there is none that could be reached. */
  readonly sourceStore: (run: ShootRun, bucket: string) => Promise<ObjectStore>;
}

/**
 * What a takeover, or the repair of an etcd whose data are damaged, is to look for, and where. Undefined where there is nothing to look for: in a planned migration, which
 * takes a last snapshot; once the volume is made; or while nothing is recorded that something else could be newer than.
 */
export async function findSearch(deps: SearchDeps, run: ShootRun): Promise<Search | undefined> {
  const { gardenClient, seedClient, records, sourceStore } = deps;
  const claim = await seedClient.read(claimRef(run));
  const repairs = isRepaired(claim, run);
  if (!repairs && (run.migration?.takeover !== true || isFinished(claim, run))) return undefined;
  const recorded = await records.latest(run);
  if (recorded === undefined) return undefined;
  const context = await readContext(gardenClient, seedClient, run);
  // The seed that repairs leads, and has written into its own bucket.
  const former = repairs ? context.seed.metadata.uid : await readPreviousBucket(gardenClient, run);
  const bucket = former ?? recorded.bucket;
  if (storeOf(context) === undefined) return { context, recorded, bucket, place: "claim" };
  const isHome = bucket === context.seed.metadata.uid;
  return { context, recorded, bucket, place: isHome ? "own" : await sourceStore(run, bucket) };
}

const isRepaired = (claim: KubeObject | undefined, { etcdDamaged }: ShootRun): boolean =>
  etcdDamaged === true && damageOn(claim) !== undefined;

/** The record may name an older bucket: a leader writes into its own before the first snapshot there is recorded. */
async function readPreviousBucket(
  gardenClient: KubeClient,
  { namespace, technicalID, uid }: ShootRun,
): Promise<string | undefined> {
  const ref = refTo(BackupEntry, { namespace, name: backupEntryName(technicalID, uid) });
  return (await gardenClient.read(ref))?.metadata.annotations?.[PREVIOUS_BUCKET_ANNOTATION];
}

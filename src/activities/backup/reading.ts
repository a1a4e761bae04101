import { SNAPSHOT_RECORD_ANNOTATION } from "../../api/annotations.ts";
import { ExtensionBackupEntry } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import { VERIFY_CONTAINER } from "../../components/index.ts";
import { refOf, unlessGone, type KubeClient, type Pod } from "../../kube/index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import { completed, hasDoneJob } from "../waits/readiness.ts";
import { podsOfJob } from "./jobs.ts";
import { protectSnapshots } from "./protection.ts";
import { parseJson } from "../../parsing.ts";
import {
  parseSnapshotStatus,
  type SnapshotOwner,
  type SnapshotRecord,
  type SnapshotRecords,
  type SnapshotStatus,
} from "./record.ts";
import { trySnapshot } from "../state/snapshot-record.ts";

/** A snapshot was taken, but its content is unknown: it has to be taken again. */
export class UnreadableSnapshot extends StepError {}

/**
 * Writes down what a finished Job's snapshot holds: from the Job, if it was read before, else as its pod found when it read the file.
 * Throws an UnreadableSnapshot when the pod, or what it said, is gone. The Job says it only after it was recorded.
 */
export async function keepSnapshotOf(
  job: KubeObject,
  { seedClient, owner, records }: { seedClient: KubeClient; owner: SnapshotOwner; records: SnapshotRecords },
): Promise<void> {
  const before = recordOn(job);
  const snapshot = before ?? (await readSnapshot(seedClient, owner, job));
  await protectSnapshots({ seedClient, records }, owner, snapshot.name);
  await records.record(owner, snapshot);
  if (before !== undefined) return;
  const annotations = { [SNAPSHOT_RECORD_ANNOTATION]: JSON.stringify(snapshot) };
  await seedClient.patch(refOf(job), { metadata: { uid: job.metadata.uid, annotations } });
}

/** Returns the record on a Job; undefined if there is none, or if it is not a valid record: the Job's pod is read then. */
function recordOn({ metadata: { annotations = {} } }: KubeObject): SnapshotRecord | undefined {
  const text = annotations[SNAPSHOT_RECORD_ANNOTATION];
  try {
    return text === undefined ? undefined : trySnapshot(parseJson(text, SNAPSHOT_RECORD_ANNOTATION));
  } catch {
    return undefined;
  }
}

async function readSnapshot(seedClient: KubeClient, owner: SnapshotOwner, job: KubeObject): Promise<SnapshotRecord> {
  const { name } = job.metadata;
  const pod = await readPod(seedClient, job);
  const readiness = completed(job);
  if (pod === undefined && !readiness.reached)
    throw new StepError(`Job ${owner.technicalID}/${name} has not finished: ${readiness.message}`);
  const status = pod && (await readLog(seedClient, pod));
  if (pod === undefined || status === undefined)
    throw new UnreadableSnapshot(`cannot verify the snapshot of Job ${owner.technicalID}/${name}: its log is gone`);
  const bucket = await readBucketName(seedClient, owner);
  return { name: `${pod.metadata.name}.db`, ...status, takenAt: beginOf(pod), bucket };
}

/** What the snapshot holds that a finished Job has read; undefined when its pod, or what it said, is gone. */
export async function readVerified(seedClient: KubeClient, job: KubeObject): Promise<SnapshotStatus | undefined> {
  const pod = await readPod(seedClient, job);
  return pod && (await readLog(seedClient, pod));
}

/** The pod that did it, if one has. */
export async function readPod(seedClient: KubeClient, job: KubeObject): Promise<Pod | undefined> {
  return (await podsOfJob(seedClient, job)).find((pod) => hasDoneJob(pod, job.metadata.uid));
}

/** Whether a Job has done its work, though its controller may not have counted that yet. */
export const isDone = async (seedClient: KubeClient, job: KubeObject): Promise<boolean> =>
  completed(job).reached || (await readPod(seedClient, job)) !== undefined;

/** Throws a problem for people unless what was restored is what was recorded of the snapshot. */
export function requireRecorded({ technicalID }: SnapshotOwner, snapshot: SnapshotRecord, found: SnapshotStatus): void {
  if (found.hash === snapshot.hash && found.revision === snapshot.revision) return;
  throw configurationProblem(
    `snapshot ${snapshot.name} of etcd-main of ${technicalID} was recorded with revision ${snapshot.revision} and hash ${snapshot.hash}, but the one restored has ${found.revision} and ${found.hash}`,
  );
}

/** The log of the container that verifies; the pod may have gone meanwhile. */
async function readLog(
  seedClient: KubeClient,
  { metadata: { namespace, name } }: KubeObject,
): Promise<SnapshotStatus | undefined> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${VERIFY_CONTAINER}`;
  const log = await unlessGone(seedClient.get(path));
  return log === undefined ? undefined : parseSnapshotStatus(log);
}

/** When the pod began to read from etcd. */
function beginOf({ metadata, status }: Pod): string {
  const saved = status?.initContainerStatuses?.[0]?.state?.terminated?.startedAt;
  return saved ?? status?.startTime ?? metadata.creationTimestamp ?? "";
}

async function readBucketName(seedClient: KubeClient, { technicalID, uid }: SnapshotOwner): Promise<string> {
  const name = backupEntryName(technicalID, uid);
  const entry = await seedClient.read(ExtensionBackupEntry, { name });
  if (entry === undefined) throw new StepError(`BackupEntry ${name} does not exist: it says where snapshots are`);
  return entry.spec.bucketName;
}

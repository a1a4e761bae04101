import { RESTORED_ANNOTATION, RESTORING_ANNOTATION, VOLUME_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { restoreJob } from "../../components/index.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { readContext } from "../control-plane/context.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { claimRef, isFinished } from "./etcd-claim.ts";
import { ensureJob, hasFailed, jobRef, jobTarget, removeJob } from "./jobs.ts";
import { isDone, readVerified, requireRecorded } from "./reading.ts";
import type { SnapshotRecord, SnapshotRecords } from "./record.ts";
import { finalSnapshotName } from "./snapshots.ts";
import { volumeClaim } from "./volume-claim.ts";
import type { Waits } from "../waits/waits.ts";

/** Claim and Job are made through `seedClient`, which is the run's fenced client. */
export interface VolumeRestoreDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: SnapshotRecords;
  readonly waits: Waits;
  /** Lets go of the bucket that the snapshot came from. */
  readonly releaseSource: (run: ShootRun) => Promise<void>;
}

/**
 * The volume of a moved Shoot's etcd, made from a snapshot before there is an etcd. The claim itself says how far this
 * is: what it is being made from, if anything yet, and then under which epoch it was finished. One that says neither holds data of its
 * own and is never touched. Kubernetes keeps a claim's name taken until every pod that writes to it has ended.
 */
export function createVolumeRestore({ gardenClient, seedClient, records, waits, releaseSource }: VolumeRestoreDeps) {
  /** Throws away what was begun, as it was seen: never a volume that was finished since, from which an etcd may have started. */
  const startOver = async (claim: KubeObject, job: KubeObject | undefined, why: string): Promise<never> => {
    if (job) await removeJob(seedClient, job);
    const { uid, resourceVersion } = claim.metadata;
    await seedClient.remove(refOf(claim), omitUndefined({ uid, resourceVersion }));
    throw new StepError(`etcd's volume ${nameOf(claim)} is made anew: ${why}`);
  };

  const createClaim = async (run: ShootRun, origin: string): Promise<KubeObject> => {
    const { metadata, ...claim } = await volumeClaim(seedClient, await readContext(gardenClient, seedClient, run));
    const annotations = { [RESTORING_ANNOTATION]: origin };
    return await seedClient.create({ ...claim, metadata: { ...metadata, annotations } });
  };

  /** The claim, ready to be filled from the snapshot. */
  const ensureClaim = async (run: ShootRun, snapshot: SnapshotRecord, job: KubeObject | undefined) => {
    const existing = await seedClient.read(claimRef(run));
    if (existing === undefined) {
      if (job) await removeJob(seedClient, job); // it filled another volume
      return await createClaim(run, originOf(run, snapshot));
    }
    const { deletionTimestamp, annotations = {}, uid, resourceVersion } = existing.metadata;
    if (deletionTimestamp !== undefined)
      throw new StepError(`cannot restore etcd's volume ${nameOf(existing)}: an earlier one is still being deleted`);
    if (annotations[RESTORED_ANNOTATION] !== undefined || annotations[RESTORING_ANNOTATION] === undefined)
      throw configurationProblem(
        `cannot restore etcd's volume ${nameOf(existing)}: it holds data of its own; delete the claim if that is not needed`,
      );
    if (annotations[RESTORING_ANNOTATION] === nothingYet(run)) {
      const metadata = { uid, resourceVersion, annotations: { [RESTORING_ANNOTATION]: originOf(run, snapshot) } };
      return await seedClient.patch(claimRef(run), { metadata });
    }
    if (annotations[RESTORING_ANNOTATION] !== originOf(run, snapshot))
      return await startOver(existing, job, `it is to hold ${originOf(run, snapshot)}`);
    return existing;
  };

  const describeJob = async (run: ShootRun, snapshot: SnapshotRecord, claim: KubeObject): Promise<KubeObject> => {
    const source = { snapshot: snapshot.name, bump: run.migration?.takeover === true };
    const { metadata, ...job } = restoreJob(await readContext(gardenClient, seedClient, run), JOB, source);
    return { ...job, metadata: { ...metadata, annotations: { [VOLUME_ANNOTATION]: claim.metadata.uid ?? "" } } };
  };

  /** What was restored is what was recorded: as the Job read the file, where that can still be asked. */
  const compare = async (run: ShootRun, job: KubeObject) => {
    const snapshot = await chooseSnapshot(records, run);
    const found = await readVerified(seedClient, job);
    if (found !== undefined) requireRecorded(run, snapshot, found);
  };

  /** Sees to it that a Job makes the volume, or has made it. */
  const ensureRestore = async (run: ShootRun, step: string): Promise<WaitTarget[]> => {
    const snapshot = await chooseSnapshot(records, run);
    const job = await seedClient.read(jobRef(run.technicalID, JOB));
    const claim = await ensureClaim(run, snapshot, job);
    if (job && isFor(job, claim) && hasFailed(job)) await startOver(claim, job, "its Job has failed");
    if (job && !isFor(job, claim)) await removeJob(seedClient, job);
    const target = jobTarget(run.technicalID, JOB, 3_600_000);
    await ensureJob({
      seedClient,
      group: waits.group(step, 1),
      target,
      describe: () => describeJob(run, snapshot, claim),
    });
    return [target];
  };

  return {
    /** Asks for the volume before there is a snapshot to fill it from: storage takes its time. One that is there stays as it is. */
    async createEtcdVolume(run: ShootRun): Promise<void> {
      if ((await seedClient.read(claimRef(run))) === undefined) await createClaim(run, nothingYet(run));
    },

    /** A Job that makes the volume from the snapshot that was recorded last; nothing to do once it is finished. */
    async restoreEtcdVolume(run: ShootRun, step: string): Promise<WaitTarget[]> {
      return isFinished(await seedClient.read(claimRef(run)), run) ? [] : await ensureRestore(run, step);
    },

    /** Records in the claim that etcd may start from it. Throws, and begins again, when claim or Job is gone. */
    async finishEtcdVolume(run: ShootRun): Promise<void> {
      const [claim, job] = await Promise.all([
        seedClient.read(claimRef(run)),
        seedClient.read(jobRef(run.technicalID, JOB)),
      ]);
      if (!isFinished(claim, run)) {
        if (claim === undefined || job === undefined || !isFor(job, claim) || !(await isDone(seedClient, job))) {
          await ensureRestore(run, "finishEtcdVolume");
          throw new StepError(`etcd's volume ${run.technicalID}/${claimRef(run).name} has not been restored`);
        }
        await compare(run, job);
        const annotations = { [RESTORED_ANNOTATION]: String(run.epoch) };
        await seedClient.patch(claimRef(run), { metadata: { uid: claim.metadata.uid, annotations } });
      }
      if (job) await removeJob(seedClient, job);
      await releaseSource(run);
    },
  };
}

const JOB = "restore-etcd-main";

const originOf = ({ epoch }: ShootRun, { name }: SnapshotRecord): string => `${name} in epoch ${epoch}`;

/** No pod has seen the volume. */
const nothingYet = ({ epoch }: ShootRun): string => `nothing yet in epoch ${epoch}`;

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

const isFor = (job: KubeObject, { metadata: { uid } }: KubeObject): boolean =>
  job.metadata.annotations?.[VOLUME_ANNOTATION] === uid;

/** After a takeover the latest snapshot; otherwise the one that was taken after the API server had stopped. */
async function chooseSnapshot(records: SnapshotRecords, run: ShootRun): Promise<SnapshotRecord> {
  const snapshot = await records.latest(run);
  if (snapshot === undefined) throw configurationProblem(`no snapshot of etcd-main of ${run.technicalID} was recorded`);
  if (!run.migration?.takeover && !snapshot.name.startsWith(`${finalSnapshotName(run)}-`))
    throw new StepError(`the last snapshot of etcd-main of ${run.technicalID} is not recorded: ${snapshot.name} is`);
  return snapshot;
}

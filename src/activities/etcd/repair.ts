import { setTimeout as sleep } from "node:timers/promises";
import {
  ETCD_DAMAGED_ANNOTATION,
  ETCD_DIRECTORIES_ANNOTATION,
  ETCD_REPLACED_ANNOTATION,
  FAILED_JOBS_ANNOTATION,
  VOLUME_ANNOTATION,
} from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { ETCDS, repairJob, restoredDirectory, type ComponentName, type EtcdRole } from "../../components/index.ts";
import { now as timeOf, type KubeClient } from "../../kube/index.ts";
import { damageOn, etcdClaimRef } from "../backup/etcd-claim.ts";
import { ensureJob, hasFailed, jobRef, jobTarget, removeJob } from "../backup/jobs.ts";
import { isDone, readPod, readVerified, requireRecorded } from "../backup/reading.ts";
import type { SnapshotRecord, SnapshotRecords } from "../backup/record.ts";
import { readContext } from "../control-plane/context.ts";
import type { WaitTarget } from "../index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import type { Waits } from "../waits/waits.ts";
import { directoriesOf } from "./directories.ts";
import { endsAgain, findEtcdVerdict, runs } from "./findings.ts";
import type { LogVerdict } from "./log-verdict.ts";

/** What was put in the place of an etcd's data, in one sentence without its end. */
export type TellReplaced = (run: ShootRun, what: string) => Promise<void>;

/** Claims and Jobs are written through `seedClient`, which is the run's fenced client. */
export interface EtcdRepairDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: Pick<SnapshotRecords, "latest">;
  readonly waits: Waits;
  readonly stop: (run: ShootRun, component: ComponentName, step: string) => Promise<WaitTarget[]>;
  readonly tell: TellReplaced;
  /** In ms: for how long an etcd is looked at that ends again and again for no reason that is found; half a minute by default. */
  readonly doubt?: number;
}

/**
 * Replaces data of etcds that are damaged or gone. The claim of each says how far that is: why its data are to be replaced, then, by one
 * write, the folder of the volume that has them from now on, of which the etcd's command is made. No file of the old data is touched, and
 * each attempt to restore has a folder of its own: whatever is killed, or acts too late, etcd starts from the old data or from new ones
 * that are whole. The fence refuses every write of a seed that leads no more.
 */
export function createEtcdRepair(deps: EtcdRepairDeps) {
  const { gardenClient, seedClient, records, waits, stop, tell, doubt = 30_000 } = deps;
  const readMarked = async ({ technicalID }: ShootRun, role: EtcdRole): Promise<KubeObject | undefined> => {
    const claim = await seedClient.read(etcdClaimRef(technicalID, role));
    return damageOn(claim) === undefined ? undefined : claim;
  };
  const readRepair = ({ technicalID }: ShootRun) => seedClient.read(jobRef(technicalID, JOB));

  /** A kubelet may have no log of the last end while it starts a container: what was reported is not taken for mended by one look. */
  const findVerdict = async ({ technicalID }: ShootRun, role: EtcdRole): Promise<LogVerdict | undefined> => {
    for (const end = performance.now() + doubt; ; await sleep(Math.min(doubt, 1_000))) {
      const verdict = await findEtcdVerdict(seedClient, technicalID, role);
      if (verdict !== undefined || performance.now() >= end) return verdict;
      if (!(await endsAgain(seedClient, technicalID, role))) return undefined;
    }
  };

  /** Only the claim as it was seen: what acts late finds that its data were replaced since, and changes nothing. */
  const annotate = async (run: ShootRun, role: EtcdRole, { metadata }: KubeObject, annotations: Annotations) => {
    const { uid, resourceVersion } = metadata;
    await seedClient.patch(etcdClaimRef(run.technicalID, role), { metadata: { uid, resourceVersion, annotations } });
  };

  /**
   * The claim that is marked; where its etcd has started since, which may be hours after it was marked here, the mark is taken back. What an
   * operator has marked stays so.
   */
  const readConfirmed = async (run: ShootRun, role: EtcdRole): Promise<KubeObject | undefined> => {
    const claim = await readMarked(run, role);
    const isFound = damageOn(claim)?.endsWith(AS_FOUND) === true;
    if (claim === undefined || !isFound || !(await runs(seedClient, run.technicalID, role))) return claim;
    await annotate(run, role, claim, { [ETCD_DAMAGED_ANNOTATION]: null });
    return undefined;
  };

  /** By one write, so that none of it holds without the others. */
  const switchTo = async (run: ShootRun, { role, claim, directory, what }: Replacement) => {
    const annotations = {
      [ETCD_DIRECTORIES_ANNOTATION]: [directory, ...directoriesOf(claim)].join(","),
      [ETCD_REPLACED_ANNOTATION]: `${what} at ${timeOf()}`,
      [ETCD_DAMAGED_ANNOTATION]: null,
    };
    await annotate(run, role, claim, annotations);
    await tell(run, `${what}, because its data were damaged: ${damageOn(claim)}`);
  };

  /** A Job that was made for another claim, or another snapshot, says nothing of this one. */
  const forgetOthers = async (job: KubeObject | undefined, origin: string): Promise<KubeObject | undefined> => {
    if (job === undefined || originOf(job) === origin) return job;
    await removeJob(seedClient, job);
    throw new StepError(
      `Job ${job.metadata.namespace}/${job.metadata.name} is re-created: it was restoring other data`,
    );
  };

  const chooseSnapshot = async (run: ShootRun): Promise<SnapshotRecord> => {
    const snapshot = await records.latest(run);
    if (snapshot !== undefined) return snapshot;
    throw configurationProblem(
      `cannot restore etcd-main of ${run.technicalID}, whose data are damaged: no snapshot of it was recorded; nothing was changed, see runbook etcd-data-damaged`,
    );
  };

  /** Throws where there is nothing to restore. A Job of an earlier repair would pass for one of this. */
  const prepareRepair = async (run: ShootRun) => {
    await chooseSnapshot(run);
    const earlier = await readRepair(run);
    if (earlier !== undefined) await removeJob(seedClient, earlier);
  };

  const ensureRepair = async (run: ShootRun, claim: KubeObject, step: string): Promise<WaitTarget[]> => {
    const { name: snapshot } = await chooseSnapshot(run);
    const origin = originFor(claim, snapshot);
    const before = await forgetOthers(await readRepair(run), origin);
    const target = jobTarget(run.technicalID, JOB, 3_600_000);
    const failed = failedJobs(before);
    const describe = async () => {
      const context = await readContext(gardenClient, seedClient, run);
      const { metadata, ...job } = repairJob(context, JOB, { snapshot, failed });
      const annotations = { [VOLUME_ANNOTATION]: origin, [FAILED_JOBS_ANNOTATION]: failed.join(",") };
      return { ...job, metadata: { ...metadata, annotations } };
    };
    await ensureJob({ seedClient, group: waits.group(step, 1), target, describe });
    return [target];
  };

  /** The folder with what was restored, which is what was recorded, as the Job's pod has read the file. */
  const readRestored = async (run: ShootRun, job: KubeObject, snapshot: SnapshotRecord): Promise<string> => {
    const [pod, found] = [await readPod(seedClient, job), await readVerified(seedClient, job)];
    if (pod === undefined || found === undefined) {
      await removeJob(seedClient, job);
      throw new StepError(`etcd-main of ${run.technicalID} is restored again: the result of its Job is gone`);
    }
    requireRecorded(run, snapshot, found);
    return restoredDirectory(job.metadata.uid ?? "", pod.metadata.name);
  };

  return {
    /** Marks the claims of etcds that do not start because of their data. One that starts again by now is left alone. */
    async confirmEtcdDamage(run: ShootRun): Promise<void> {
      for (const role of ETCDS.filter((one) => one === "events" || run.hasBackup)) {
        const claim = await seedClient.read(etcdClaimRef(run.technicalID, role));
        if (claim === undefined || damageOn(claim) !== undefined) continue;
        const verdict = await findVerdict(run, role);
        if (verdict === undefined || !isOfData(verdict)) continue;
        if (role === "main") await prepareRepair(run);
        await annotate(run, role, claim, { [ETCD_DAMAGED_ANNOTATION]: `${verdict.why}${AS_FOUND}` });
      }
    },

    async stopDamagedApiServer(run: ShootRun, step: string): Promise<WaitTarget[]> {
      return (await readConfirmed(run, "main")) === undefined ? [] : await stop(run, "kube-apiserver", step);
    },

    async stopDamagedEtcd(run: ShootRun, step: string): Promise<WaitTarget[]> {
      return (await readMarked(run, "main")) === undefined ? [] : await stop(run, "etcd", step);
    },

    async restoreEtcdData(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const claim = run.hasBackup ? await readMarked(run, "main") : undefined;
      return claim === undefined ? [] : await ensureRepair(run, claim, step);
    },

    /** Throws, and begins again, when the Job that restores is gone. */
    async switchEtcdData(run: ShootRun): Promise<void> {
      const [main, events] = [await readMarked(run, "main"), await readConfirmed(run, "events")];
      if (events !== undefined)
        await switchTo(run, {
          ...{ role: "events", claim: events, what: "etcd-events was started empty" },
          directory: `empty-${run.epoch}-${Date.now()}`,
        });
      if (main === undefined || !run.hasBackup) return;
      const snapshot = await chooseSnapshot(run);
      const job = await readRepair(run);
      const isReady = job !== undefined && originOf(job) === originFor(main, snapshot.name);
      if (!isReady || !(await isDone(seedClient, job))) {
        await ensureRepair(run, main, "switchEtcdData");
        throw new StepError(`the data of etcd-main of ${run.technicalID} have not been restored`);
      }
      const directory = await readRestored(run, job, snapshot);
      const what = `etcd-main was restored from ${snapshot.name}, taken at ${snapshot.takenAt} (${ageOf(snapshot)} before)`;
      await switchTo(run, { role: "main", claim: main, directory, what });
      await removeJob(seedClient, job);
    },
  };
}

type Annotations = Readonly<Record<string, string | null>>;

/** The data that an etcd is to have instead of those on its claim. */
interface Replacement {
  readonly role: EtcdRole;
  readonly claim: KubeObject;
  readonly directory: string;
  readonly what: string;
}

const JOB = "repair-etcd-main";

/** Ends what is said on a claim by a flow, in the place of an operator. */
const AS_FOUND = ", as its log reports";

/** A disk is for the operator to mend. */
const isOfData = ({ state }: LogVerdict): boolean => state === "damaged" || state === "gone";

const originOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[VOLUME_ANNOTATION];

const originFor = ({ metadata }: KubeObject, snapshot: string): string => `${metadata.uid} ${snapshot}`;

/** A Job and those before it, by uid, if it has failed; as many as may have left anything: each clears up after those before it first. */
function failedJobs(job: KubeObject | undefined): readonly string[] {
  if (job === undefined || !hasFailed(job)) return [];
  const { uid = "", annotations = {} } = job.metadata;
  return [uid, ...(annotations[FAILED_JOBS_ANNOTATION] ?? "").split(",")].filter(Boolean).slice(0, MOST_FAILED);
}

const MOST_FAILED = 20;

function ageOf({ takenAt }: Pick<SnapshotRecord, "takenAt">): string {
  const minutes = Math.max(0, Math.round((Date.now() - Date.parse(takenAt)) / 60_000));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

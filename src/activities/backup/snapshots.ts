import { activityInfo } from "../temporal.ts";
import { SNAPSHOT_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { isAsleep, type ShootRun } from "../../api/shoot/run.ts";
import { FINAL_SNAPSHOT, snapshotJob } from "../../components/index.ts";
import { CronJob, Job, refTo, StatefulSet, unlessGone, type KubeClient } from "../../kube/index.ts";
import { readContext } from "../control-plane/context.ts";
import { StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { ensureJob, jobRef, jobTarget, removeJob } from "./jobs.ts";
import { completed } from "../waits/readiness.ts";
import { keepSnapshotOf, UnreadableSnapshot } from "./reading.ts";
import type { SnapshotRecords } from "./record.ts";
import type { Waits } from "../waits/waits.ts";

/** Jobs are made through `seedClient`, which is the run's fenced client. */
export interface SnapshotDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: SnapshotRecords;
  readonly waits: Waits;
  /** Tells the flow that asks from others, also of the same Shoot; the one whose activity this is unless told otherwise. */
  readonly flow?: () => string;
}

/** Snapshots that a flow asks for: taken by a Job, verified by it, and written down in the garden. */
export function createSnapshots({ gardenClient, seedClient, records, waits, flow = currentFlow }: SnapshotDeps) {
  /**
   * Before the leader has changed, each flow takes a snapshot of its own. Afterwards there is one last snapshot for each
   * leader, however many flows it takes to get there: etcd is stopped once it is written down.
   */
  const jobName = (run: ShootRun) => (isLast(run) ? finalSnapshotName(run) : `first-snapshot-${run.epoch}-${flow()}`);

  /** A hibernated Shoot's etcd sleeps, but only a running one can be asked. */
  const setEtcd = async ({ technicalID: namespace }: ShootRun, replicas: number) => {
    await seedClient.patch(refTo(StatefulSet, { namespace, name: "etcd-main" }), { spec: { replicas } });
  };

  /** After the last snapshot there must be none that could be taken for it. */
  const endSchedule = async ({ technicalID: namespace }: ShootRun) => {
    const schedule = refTo(CronJob, { namespace, name: "etcd-backup" });
    await unlessGone(seedClient.patch(schedule, { spec: { suspend: true } }));
    for (const job of await jobsOf(seedClient, namespace, "scheduled")) await removeJob(seedClient, job);
  };

  const removeEarlier = async ({ technicalID: namespace }: ShootRun, name: string) => {
    const jobs = await jobsOf(seedClient, namespace, "requested");
    for (const job of jobs) if (job.metadata.name !== name && completed(job).reached) await removeJob(seedClient, job);
  };

  return {
    /** A Job that takes a snapshot. The last one of a moving Shoot is taken once, whatever happens to the flow that asks. */
    async takeSnapshot(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const name = jobName(run);
      const target = jobTarget(run.technicalID, name, 3_600_000);
      const job = await seedClient.read(jobRef(run.technicalID, name));
      const taken = job !== undefined && completed(job).reached;
      if (!taken) await (isLast(run) ? endSchedule(run) : removeEarlier(run, name));
      if (!taken && isAsleep(run)) await setEtcd(run, 1);
      await ensureJob({
        seedClient,
        group: waits.group(step, 1),
        target,
        describe: async () => snapshotJob(await readContext(gardenClient, seedClient, run), name),
      });
      return [target];
    },

    /** Writes down what the Job's snapshot holds, after its pod has read it. One that was not read is taken again. */
    async keepSnapshot(run: ShootRun): Promise<void> {
      const name = jobName(run);
      const job = await seedClient.read(jobRef(run.technicalID, name));
      if (job === undefined)
        throw new StepError(`cannot keep the snapshot of Job ${run.technicalID}/${name}: the Job is gone`);
      try {
        await keepSnapshotOf(job, { seedClient, owner: run, records });
      } catch (error) {
        if (error instanceof UnreadableSnapshot) await removeJob(seedClient, job);
        throw error;
      }
      if (isAsleep(run) && !isLast(run)) await setEtcd(run, 0);
    },
  };
}

/** The Job that takes the last snapshot before a Shoot's new leader begins; its files are named after it. */
export const finalSnapshotName = ({ epoch }: ShootRun): string => `${FINAL_SNAPSHOT}-${epoch}`;

/** The run of the workflow whose activity asks. */
export const currentFlow = (): string => activityInfo().workflowExecution?.runId.slice(0, 8) ?? "";

const isLast = ({ operation }: ShootRun): boolean => operation === "Restore";

async function jobsOf(
  seedClient: KubeClient,
  namespace: string,
  why: "scheduled" | "requested",
): Promise<KubeObject[]> {
  const labelSelector = `${SNAPSHOT_LABEL}=${why}`;
  return await seedClient.list(Job, { namespace, labelSelector });
}

import { ExtensionBackupEntry } from "../../api/index.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { LIST_CONTAINER, listJob } from "../../components/index.ts";
import { refTo, unlessGone, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { completed } from "../waits/readiness.ts";
import type { WaitGroup, Waits } from "../waits/waits.ts";
import { ensureJob, jobRef, jobTarget, removeJob } from "./jobs.ts";
import { readPod } from "./reading.ts";
import type { Search } from "./search.ts";

/** Jobs are made through `seedClient`, which is the run's fenced client. */
export interface ListingDeps {
  readonly seedClient: KubeClient;
  readonly waits: Waits;
  /** Has another seed's bucket made reachable. */
  readonly reachSource: (run: ShootRun, bucket: string, group: WaitGroup) => Promise<WaitTarget>;
}

/** The names of the files among which a takeover looks: by a Job in a bucket, by the word of its provider in a claim. */
export function createListing({ seedClient, waits, reachSource }: ListingDeps) {
  const readJob = (run: ShootRun) => seedClient.read(jobRef(run.technicalID, nameOf(run)));

  return {
    /** A Job that lists the bucket as it is now. Nothing is to be done where the provider of a claim has said it. */
    async ensureList(run: ShootRun, step: string, { context, bucket, place }: Search): Promise<WaitTarget[]> {
      if (place === "claim") return [];
      const job = await readJob(run);
      if (job !== undefined && completed(job).reached) await removeJob(seedClient, job);
      const group = waits.group(step, place === "own" ? 1 : 2);
      const reached = place === "own" ? [] : [await reachSource(run, bucket, group)];
      const target = jobTarget(run.technicalID, nameOf(run), 3_600_000);
      const source = place === "own" ? undefined : place;
      await ensureJob({ seedClient, group, target, describe: async () => listJob(context, target.name, { source }) });
      return [...reached, target];
    },

    /** What was listed last; undefined where that cannot be read any more. */
    readList: (run: ShootRun, { place }: Search): Promise<readonly string[] | undefined> =>
      place === "claim" ? readProvided(seedClient, run) : readLog(run),

    /** Another look at the bucket begins with a new Job. */
    async forgetList(run: ShootRun): Promise<void> {
      const job = await readJob(run);
      if (job !== undefined) await removeJob(seedClient, job);
    },
  };

  async function readLog(run: ShootRun): Promise<readonly string[] | undefined> {
    const job = await readJob(run);
    const pod = job && (await readPod(seedClient, job));
    if (pod === undefined) return undefined;
    const path = `/api/v1/namespaces/${run.technicalID}/pods/${pod.metadata.name}/log?container=${LIST_CONTAINER}`;
    const log = await unlessGone(seedClient.get(path));
    return typeof log !== "string" || isNoLog(log) ? undefined : log.split("\n").filter(Boolean);
  }
}

/** A kubelet whose container runtime has forgotten a log says so in its place, with code 200. */
const isNoLog = (text: string): boolean => text.startsWith("unable to retrieve container logs");

const nameOf = ({ epoch }: ShootRun): string => `list-snapshots-${epoch}`;

/** A provider that does not say it has told its flow no names: what is recorded is then all that is known. */
async function readProvided(seedClient: KubeClient, { technicalID, uid }: ShootRun): Promise<readonly string[]> {
  const name = backupEntryName(technicalID, uid);
  const entry = await seedClient.read(refTo(ExtensionBackupEntry, { name }));
  if (entry === undefined) throw new StepError(`BackupEntry ${name} does not exist: its provider says what it holds`);
  const { snapshots } = (entry.status?.providerStatus ?? {}) as { snapshots?: unknown };
  return Array.isArray(snapshots) ? snapshots.filter((one) => typeof one === "string") : [];
}

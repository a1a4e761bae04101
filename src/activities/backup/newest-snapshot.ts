import type { ShootRun } from "../../api/shoot/run.ts";
import { checkJob } from "../../components/index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { ensureJob, jobRef, jobTarget, removeJob } from "./jobs.ts";
import { createListing, type ListingDeps } from "./listing.ts";
import { newerSnapshots, type ScheduledSnapshot } from "./newer-snapshots.ts";
import { protectSnapshots } from "./protection.ts";
import type { SnapshotRecords, SnapshotStatus } from "./record.ts";
import { findSearch, type Search, type SearchDeps } from "./search.ts";
import { readVerdict } from "./snapshot-verdict.ts";

/** Jobs are made through `seedClient`, which is the run's fenced client; `now` is the time in ms since the epoch. */
export interface NewestSnapshotDeps extends ListingDeps, SearchDeps {
  readonly records: SnapshotRecords;
  readonly now?: () => number;
}

/**
 * The newest snapshot that is there, for a takeover. While a seed's worker was down, or did not reach the garden, the
 * schedule went on and nothing was recorded. What is newer than the record counts once it was restored for a try: only that
 * tells a damaged file from a whole one. A file is passed over only for what it holds, never because it was out of reach.
 */
export function createNewestSnapshot({ now = Date.now, ...deps }: NewestSnapshotDeps) {
  const { seedClient, records, waits } = deps;
  const { ensureList, readList, forgetList } = createListing(deps);

  /** Begins with a new look at the bucket, and says so. */
  const listAnew = async (run: ShootRun, search: Search): Promise<never> => {
    await ensureList(run, "newestSnapshot", search);
    throw new StepError(`the snapshots of etcd-main of ${run.technicalID} in ${search.bucket} are listed anew`);
  };

  const findNewer = async (run: ShootRun, search: Search): Promise<ScheduledSnapshot[]> => {
    const { recorded, bucket, place } = search;
    const names = (await readList(run, search)) ?? (await listAnew(run, search));
    const newer = newerSnapshots(names, recorded, now());
    if (place === "claim" || newer.length > 0 || bucket !== recorded.bucket || names.includes(recorded.name))
      return newer;
    await forgetList(run);
    throw configurationProblem(
      `BackupBucket ${bucket} shows no snapshot ${recorded.name} of etcd-main of ${run.technicalID}, which is recorded: make sure that the bucket is the one that it was and its credentials may list it, then retry`,
    );
  };

  /** Sees to it that a Job checks the snapshot. */
  const ensureCheck = async (run: ShootRun, step: string, { context, place }: Search, snapshot: string) => {
    const target = jobTarget(run.technicalID, checkName(run, snapshot), 3_600_000);
    const source = typeof place === "string" ? undefined : place;
    const describe = async () => checkJob(context, target.name, { snapshot, source });
    await ensureJob({ seedClient, group: waits.group(step, 1), target, describe });
    return target;
  };

  /** The newest good one, or the Job that has to end before that is known. */
  const look = async (run: ShootRun, step: string, search: Search): Promise<Outcome> => {
    for (const snapshot of await findNewer(run, search)) {
      const job = await seedClient.read(jobRef(run.technicalID, checkName(run, snapshot.name)));
      const verdict = job === undefined ? "none" : await readVerdict(seedClient, job);
      if (verdict === "damaged") continue;
      if (verdict === "pending" || verdict === "none") {
        if (job !== undefined && verdict === "none") await removeJob(seedClient, job);
        return { target: await ensureCheck(run, step, search, snapshot.name) };
      }
      if (verdict.revision >= search.recorded.revision) return { newest: { ...snapshot, ...verdict } };
    }
    return {};
  };

  return {
    /** A Job that lists the bucket into which the old seed wrote; nothing where there is nothing to look for. */
    async listSnapshots(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const search = await findSearch(deps, run);
      return search === undefined ? [] : await ensureList(run, step, search);
    },

    /** A Job that restores the newest file for a try, then the one before, until one is good; nothing once that is known. */
    async checkNewestSnapshot(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const search = await findSearch(deps, run);
      const { target } = search === undefined ? {} : await look(run, step, search);
      return target === undefined ? [] : [target];
    },

    /** Writes down the newest good snapshot, as if it had been recorded when it was taken. */
    async keepNewestSnapshot(run: ShootRun): Promise<void> {
      const search = await findSearch(deps, run);
      if (search === undefined) return;
      const { newest, target } = await look(run, "newestSnapshot", search);
      if (target !== undefined) throw new StepError(`Job ${target.namespace}/${target.name} has not finished`);
      if (newest === undefined) return;
      await protectSnapshots({ seedClient, records }, run, newest.name);
      await records.record(run, { ...newest, bucket: search.bucket });
    },
  };
}

interface Outcome {
  readonly newest?: ScheduledSnapshot & SnapshotStatus;
  readonly target?: WaitTarget;
}

/** Another leader checks again: nothing is known of who has made an earlier Job. */
const checkName = ({ epoch }: ShootRun, snapshot: string): string => `check-${snapshot.replace(/\.db$/, "")}-${epoch}`;

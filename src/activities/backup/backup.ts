import type { ShootRun } from "../../api/shoot/run.ts";
import { warmUpJob } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { createNewestSnapshot } from "./newest-snapshot.ts";
import { createBackupSource } from "./source-entry.ts";
import { readContext } from "../control-plane/context.ts";
import { createExtensions } from "../extensions/extensions.ts";
import type { WaitTarget } from "../index.ts";
import { ensureJob, jobTarget } from "./jobs.ts";
import { checkBackupPlace } from "./place.ts";
import type { SnapshotRecords } from "./record.ts";
import { createSnapshots, currentFlow } from "./snapshots.ts";
import { createVolumeRestore } from "./volume-restore.ts";
import type { Waits } from "../waits/waits.ts";

/** `seedClient` is the run's fenced client of the seed that the steps act in. */
export interface BackupDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly records: SnapshotRecords;
  readonly waits: Waits;
  readonly flow?: () => string;
  /** In ms since the epoch. */
  readonly now?: () => number;
}

/** A Shoot's etcd between seeds: snapshots of it where it was, its volume where it is to be. */
export function createBackup(deps: BackupDeps) {
  const { gardenClient, seedClient, waits, flow = currentFlow } = deps;
  const { copySnapshot, releaseSource, ...source } = createBackupSource({
    ...deps,
    applyObject: createExtensions(deps).applyObject,
  });
  return {
    copySnapshot,
    ...createSnapshots(deps),
    ...createNewestSnapshot({ ...deps, ...source }),
    ...createVolumeRestore({ ...deps, releaseSource }),

    /** Throws a StepError where pods of the Shoot's namespace cannot reach its backups. */
    checkPlace: async (run: ShootRun): Promise<void> =>
      checkBackupPlace(seedClient, await readContext(gardenClient, seedClient, run)),

    /** A Job that runs every image of the control plane once. It takes itself away an hour after its end. */
    async warmUpImages(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const name = `warm-up-${flow()}`;
      const target = jobTarget(run.technicalID, name, 600_000);
      const describe = async () => warmUpJob(await readContext(gardenClient, seedClient, run), name);
      await ensureJob({ seedClient, group: waits.group(step, 1), target, describe });
      return [target];
    },
  };
}

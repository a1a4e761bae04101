import { SNAPSHOT_RECORD_ANNOTATION } from "../../api/annotations.ts";
import { completed } from "../../activities/waits/readiness.ts";
import { keepSnapshotOf, UnreadableSnapshot } from "../../activities/backup/reading.ts";
import type { SnapshotRecords } from "../../activities/backup/record.ts";
import { Superseded } from "../../activities/superseded.ts";
import { fenced } from "../../activities/leadership/fenced-client.ts";
import { Job, type KubeClient, type NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { SnapshotFailures } from "./snapshot-failures.ts";
import { createOwners } from "../mirror/owner.ts";

/** The seed whose Jobs are watched, and the records in the garden. */
export interface SnapshotRecorderDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly records: SnapshotRecords;
  readonly failures: SnapshotFailures;
  readonly log: Logger;
}

/** Writes down what the scheduled snapshots of the Shoots that this seed leads hold, as their pods found them. */
export function createSnapshotRecorder({
  gardenClient,
  seedClient,
  seedName,
  records,
  failures,
  log,
}: SnapshotRecorderDeps) {
  const findOwner = createOwners({ gardenClient, seedClient, seedName });
  return {
    /** One look at a Job. One that was recorded says so; what can't be read any more is followed by another soon. */
    async reconcile({ name, namespace }: NamespacedKey): Promise<void> {
      const job = await seedClient.read(Job, { namespace, name });
      if (job === undefined) return failures.forget({ namespace, name });
      const ended = completed(job);
      if (!ended.reached && ended.error === undefined) return;
      const { owner } = await findOwner(namespace);
      if (owner === undefined) return;
      await failures.note(job, owner);
      if (!ended.reached || SNAPSHOT_RECORD_ANNOTATION in (job.metadata.annotations ?? {})) return;
      const shoot = { ...owner, technicalID: namespace };
      try {
        await keepSnapshotOf(job, { seedClient: fenced(seedClient, shoot), owner: shoot, records });
      } catch (error) {
        if (!(error instanceof UnreadableSnapshot || error instanceof Superseded)) throw error;
        log.warn({ namespace, job: name, err: error }, "snapshot not recorded");
      }
    },
  };
}

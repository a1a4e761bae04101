import { SNAPSHOT_LABEL } from "../../api/labels.ts";
import type { SnapshotRecords } from "../../activities/backup/record.ts";
import { BackupBucket, BackupEntry, ExtensionBackupBucket, ExtensionBackupEntry, Seed } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createController,
  createReflector,
  Job,
  type Controller,
  type Kind,
  type KubeClient,
  type NamespacedKey,
  type Selection,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createBackupBucketKeeper } from "./bucket.ts";
import { createBackupEntryKeeper } from "./entry.ts";
import { createSnapshotRecorder } from "./snapshot-recorder.ts";

/** Both clusters, and the records of snapshots in the garden. */
export interface BackupsDeps {
  readonly gardenClient: KubeClient;
  /** Not the flows' client: what is written here belongs to no run. */
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly records: SnapshotRecords;
  /** In ms: how long the backups of a Shoot outlive it. */
  readonly grace: number;
  readonly log: Logger;
}

/** Looks after what a seed's Shoots are backed up with, whether or not a flow runs: bucket, entries, scheduled snapshots. */
export function createBackups({ gardenClient, seedClient, seedName, records, grace, log }: BackupsDeps) {
  const buckets = createController({
    name: "backup-buckets",
    log,
    reconcile: createBackupBucketKeeper({ gardenClient, seedClient, seedName }).reconcile,
  });
  const entries = createController({
    name: "backup-entries",
    log,
    reconcile: createBackupEntryKeeper({ gardenClient, seedClient, seedName, grace }).reconcile,
  });
  const snapshots = createController({
    name: "snapshots",
    log,
    reconcile: createSnapshotRecorder({ gardenClient, seedClient, seedName, records, log }).reconcile,
  });

  const follow = <T extends KubeObject>(
    client: KubeClient,
    kind: Kind<T>,
    changed: (object: T) => void,
    selection: Selection = {},
  ) => createReflector(client, kind, { log, onEvent: ({ object }) => changed(object), ...selection });
  const look = () => buckets.enqueue({ name: seedName });
  const entriesInGarden = follow(gardenClient, BackupEntry, enqueueIn(entries));
  const reflectors = [
    follow(gardenClient, Seed, ({ metadata: { name } }) => buckets.enqueue({ name })),
    follow(gardenClient, BackupBucket, look),
    follow(seedClient, ExtensionBackupBucket, look),
    entriesInGarden,
    follow(seedClient, ExtensionBackupEntry, ({ metadata }) => {
      for (const entry of entriesInGarden.list()) if (entry.metadata.name === metadata.name) enqueueIn(entries)(entry);
    }),
    follow(seedClient, Job, enqueueIn(snapshots), { labelSelector: `${SNAPSHOT_LABEL}=scheduled` }),
  ];

  return {
    start() {
      for (const part of [buckets, entries, snapshots, ...reflectors]) part.start();
    },
    async stop(): Promise<void> {
      await Promise.all([buckets, entries, snapshots, ...reflectors].map((part) => part.stop()));
    },
  };
}

const enqueueIn =
  (controller: Controller<NamespacedKey>) =>
  ({ metadata: { name, namespace } }: { readonly metadata: NamespacedKey }): void =>
    controller.enqueue({ name, namespace });

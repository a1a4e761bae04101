import type { SnapshotRecords } from "../../activities/backup/record.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { SNAPSHOT_LABEL } from "../../components/index.ts";
import { createController, createReflector, type Controller, type KubeClient, type TypeRef } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createBackupBucketKeeper } from "./bucket.ts";
import { createBackupEntryKeeper } from "./entry.ts";
import { createSnapshotRecorder } from "./snapshot-recorder.ts";

/** What looking after the backups of a seed's Shoots needs. */
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

  const follow = (client: KubeClient, type: TypeRef, changed: (object: KubeObject) => void, labelSelector?: string) =>
    createReflector<KubeObject>(client, type, {
      log,
      onEvent: ({ object }) => changed(object),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    });
  const entriesInGarden = follow(gardenClient, { ...core, kind: "BackupEntry" }, enqueueIn(entries));
  const reflectors = [
    follow(gardenClient, { ...core, kind: "Seed" }, enqueueIn(buckets)),
    follow(gardenClient, { ...core, kind: "BackupBucket" }, () => buckets.enqueue({ name: seedName })),
    follow(seedClient, { ...extensions, kind: "BackupBucket" }, () => buckets.enqueue({ name: seedName })),
    entriesInGarden,
    follow(seedClient, { ...extensions, kind: "BackupEntry" }, ({ metadata }) => {
      for (const entry of entriesInGarden.list()) if (entry.metadata.name === metadata.name) enqueueIn(entries)(entry);
    }),
    follow(seedClient, { apiVersion: "batch/v1", kind: "Job" }, enqueueIn(snapshots), `${SNAPSHOT_LABEL}=scheduled`),
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

const core = { apiVersion: "core.gardener.cloud/v1beta1" } as const;
const extensions = { apiVersion: "extensions.gardener.cloud/v1alpha1" } as const;

const enqueueIn =
  (controller: Controller) =>
  ({ metadata: { name, namespace } }: KubeObject): void =>
    controller.enqueue(namespace === undefined ? { name } : { name, namespace });

import { GARDEN_NAMESPACE_LABEL, ROLE_LABEL, SNAPSHOT_LABEL } from "../../api/labels.ts";
import { technicalIdOf } from "../../api/extensions/backup-entry.ts";
import { entryOfSecret, GARDEN_NAMESPACE } from "../../api/names.ts";
import type { SnapshotRecords } from "../../activities/backup/record.ts";
import { ExtensionBackupBucket, ExtensionBackupEntry, Seed } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createController,
  createReflector,
  Job,
  Namespace,
  Secret,
  type Controller,
  type Kind,
  type KubeClient,
  type NamespacedKey,
  type Selection,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createBackupBucketKeeper } from "./bucket.ts";
import { createBackupEntryKeeper } from "./entry.ts";
import type { SnapshotFailures } from "./snapshot-failures.ts";
import { createSnapshotRecorder } from "./snapshot-recorder.ts";

/** Both clusters, and the records of snapshots in the garden. */
export interface BackupsDeps {
  readonly gardenClient: KubeClient;
  /** Not the flows' client: what is written here belongs to no run. */
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly records: SnapshotRecords;
  readonly failures: SnapshotFailures;
  /** In ms: how long the backups of a Shoot outlive it. */
  readonly grace: number;
  readonly log: Logger;
}

/** Looks after what a seed's Shoots are backed up with, whether or not a flow runs: bucket, entries, scheduled snapshots. */
export function createBackups({ gardenClient, seedClient, seedName, records, failures, grace, log }: BackupsDeps) {
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
    reconcile: createSnapshotRecorder({ gardenClient, seedClient, seedName, records, failures, log }).reconcile,
  });

  const follow = <T extends KubeObject>(
    client: KubeClient,
    kind: Kind<T>,
    changed: (object: T) => void,
    selection: Selection = {},
  ) => createReflector(client, kind, { log, onEvent: ({ object }) => changed(object), ...selection });
  const look = () => buckets.enqueue({ name: seedName });
  const lookAt = (secret: Secret) => entries.enqueue(entryOf(secret));
  const lookAtThose = (matching: (entry: string) => boolean) =>
    credentials
      .list()
      .filter((secret) => matching(entryOf(secret).name))
      .forEach(lookAt);
  // Who has a BackupEntry's credentials keeps that entry: a seed may not list those of the garden.
  const credentials = follow(seedClient, Secret, lookAt, {
    namespace: GARDEN_NAMESPACE,
    labelSelector: GARDEN_NAMESPACE_LABEL,
  });
  const reflectors = [
    follow(gardenClient, Seed, look, { fieldSelector: `metadata.name=${seedName}` }),
    follow(seedClient, ExtensionBackupBucket, look),
    credentials,
    follow(seedClient, ExtensionBackupEntry, ({ metadata }) => lookAtThose((entry) => entry === metadata.name)),
    follow(seedClient, Namespace, ({ metadata }) => lookAtThose((entry) => technicalIdOf(entry) === metadata.name), {
      labelSelector: `${ROLE_LABEL}=shoot`,
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

/** The garden's BackupEntry to which a Secret's credentials belong: the Secret is called like it, after `entry-`. */
const entryOf = ({ metadata: { name, labels } }: Secret): NamespacedKey => ({
  namespace: labels?.[GARDEN_NAMESPACE_LABEL] ?? "",
  name: entryOfSecret(name),
});

const enqueueIn =
  (controller: Controller<NamespacedKey>) =>
  ({ metadata: { name, namespace } }: { readonly metadata: NamespacedKey }): void =>
    controller.enqueue({ name, namespace });

import { beforeEach, expect } from "vitest";
import { createBackup } from "../../src/activities/backup/backup.ts";
import type { SnapshotRecords } from "../../src/activities/backup/record.ts";
import { BackupBucket, ExtensionBackupEntry, Seed, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Job, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { createJobRunner, memoryRecords } from "../support/backup-lab.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const core = "core.gardener.cloud/v1beta1";
let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: SnapshotRecords;
let run: ShootRun;
let own: string;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
  await applyGarden(kube);
  const example = await kube.read(Seed, { name: "seed-1" });
  if (example === undefined) throw new Error("deploy/examples has no Seed seed-1");
  const spec = { ...example.spec, backup: { provider: "aws", region: "eu-west-1" } };
  const seed = await kube.create<Seed>({ apiVersion: core, kind: "Seed", metadata: { name: "seed-3" }, spec });
  own = seed.metadata.uid ?? "";
  await bucket("other", "azure");
  await bucket("claimed", "local");
  await secret("made", "bWFkZQ==");
  await secret("generated", "Z2VuZXJhdGVk");
});
beforeEach(async () => {
  const created = await createShoot(kube, `source-${(count += 1)}`);
  const migration = { source: "seed-2", destination: "seed-3", takeover: false };
  run = {
    ...created,
    seedName: "seed-3",
    operation: "Restore",
    epoch: 2,
    migration,
    leadershipRecord: "leader.perennial.test",
  };
  records = memoryRecords();
  await generate(null);
});

/** Says which credentials have come with the bucket. */
const generate = (generatedSecretRef: { readonly name: string; readonly namespace: string } | null) =>
  kube.patch(refTo(BackupBucket, { name: "other" }), { status: { generatedSecretRef } }, { subresource: "status" });

const backup = () =>
  createBackup({ gardenClient: kube, seedClient: runner.client, records, waits: notedWaits, flow: () => "flow-1" });
const entry = () => refTo(ExtensionBackupEntry, { name: `source-${run.technicalID}--${run.uid}` });
const job = (name: string) => refTo(Job, { namespace: run.technicalID, name });
const credentials = () => secretRef(`entry-${entry().name}`);

test("a snapshot in another seed's bucket is copied through a BackupEntry of its own", async () => {
  await recorded("final-snapshot-2-abcde.db", "other");
  const targets = await backup().copySnapshot(run, "copiedBackups");
  expect(targets).toMatchObject([
    { kind: "BackupEntry", name: entry().name, until: "ready" },
    { kind: "Job", name: "copy-final-snapshot-2-abcde", until: "completed" },
  ]);
  expect(await kube.read(entry())).toMatchObject({
    metadata: { annotations: { "gardener.cloud/operation": "reconcile" } },
    spec: {
      type: "azure",
      region: "westeurope",
      bucketName: "other",
      secretRef: { name: `entry-${entry().name}`, namespace: "garden" },
      leadership: { value: "seed-3", epoch: 2 },
    },
  });
  expect(await kube.read(credentials())).toMatchObject({ data: { key: "bWFkZQ==" } });
  const text = JSON.stringify(await kube.read(job("copy-final-snapshot-2-abcde")));
  expect(text).toContain("source:$(SOURCE_BUCKET)");
  expect(text).toContain("store:$(STORE_BUCKET)");
});

test("credentials that came with the bucket are preferred, and renewed by the next attempt", async () => {
  await recorded("final-snapshot-2-abcde.db", "other");
  await backup().copySnapshot(run, "copiedBackups");
  await generate({ name: "generated", namespace: "garden" });
  await runner.fail(run.technicalID, "copy-final-snapshot-2-abcde");
  await backup().copySnapshot(run, "copiedBackups");
  expect(await kube.read(credentials())).toMatchObject({ data: { key: "Z2VuZXJhdGVk" } });
  expect(await kube.read(job("copy-final-snapshot-2-abcde"))).not.toHaveProperty("status.failed");
});

test.each([
  ["it is in the seed's own bucket", () => recorded("final-snapshot-2-abcde.db", own)],
  ["none was recorded", async () => {}],
])("nothing is copied when %s", async (_, prepare) => {
  await prepare();
  expect(await backup().copySnapshot(run, "copiedBackups")).toEqual([]);
  expect(await kube.read(entry())).toBeUndefined();
});

test("nothing is copied for a Shoot that stays, nor again", async () => {
  await recorded("final-snapshot-2-abcde.db", "other");
  const { migration: _, ...staying } = run;
  expect(await backup().copySnapshot(staying, "backupEntry")).toEqual([]);
  await backup().copySnapshot(run, "backupEntry");
  await runner.succeed(run.technicalID, "copy-final-snapshot-2-abcde");
  expect(await backup().copySnapshot(run, "copiedBackups")).toEqual([]);
});

test.each([
  ["claimed", "which is no object store"],
  ["forgotten", "which does not exist in the garden"],
])("a snapshot in bucket %s is not copied, with the reason", async (where, reason) => {
  await recorded("final-snapshot-2-abcde.db", where);
  await expect(backup().copySnapshot(run, "copiedBackups")).rejects.toThrow(reason);
});

test("the other bucket is let go of once the volume is made, and its controller never asked to empty it", async () => {
  await recorded("final-snapshot-2-abcde.db", "other");
  await backup().copySnapshot(run, "copiedBackups");
  await kube.patch(entry(), { metadata: { finalizers: ["extensions.gardener.cloud/backupentry"] } });
  await secret("source-etcd-backup", "", run.technicalID);
  await backup().restoreEtcdVolume(run, "etcdVolume");
  await runner.succeed(run.technicalID, "restore-etcd-main", { hash: 1, revision: 2, totalSize: 3 });
  expect(await kube.read(entry())).toBeDefined();
  await backup().finishEtcdVolume(run);
  for (const ref of [credentials(), secretRef("source-etcd-backup", run.technicalID)])
    expect(await kube.read(ref)).toBeUndefined();
  expect(await kube.read(entry())).toBeUndefined();
  await backup().finishEtcdVolume(run);
});

test("a snapshot that was copied is recorded in the seed's own bucket from then on", async () => {
  await recorded("final-snapshot-2-abcde.db", "other");
  const before = await records.latest(run);
  await backup().restoreEtcdVolume(run, "etcdVolume");
  await runner.succeed(run.technicalID, "restore-etcd-main", { hash: 1, revision: 2, totalSize: 3 });
  expect(await records.latest(run)).toEqual(before);
  await backup().finishEtcdVolume(run);
  expect(await records.latest(run)).toEqual({ ...before, bucket: own });
});

const recorded = (name: string, where: string) =>
  records.record(run, { name, revision: 2, hash: 1, size: 3, takenAt: "2026-01-01T10:00:00Z", bucket: where });

async function bucket(name: string, type: string): Promise<void> {
  const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "made", namespace: "garden" };
  const spec = { provider: { type, region: "westeurope" }, seedName: "seed-2", credentialsRef };
  await kube.apply<KubeObject>({ apiVersion: core, kind: "BackupBucket", metadata: { name }, spec });
}

const secretRef = (name: string, namespace = "garden") => refTo(Secret, { name, namespace });

async function secret(name: string, key: string, namespace = "garden"): Promise<void> {
  await kube.apply<KubeObject>({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data: { key } });
}

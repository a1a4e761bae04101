import { beforeEach, describe, expect } from "vitest";
import { createBackup } from "../../src/activities/backup/backup.ts";
import type { SnapshotRecords } from "../../src/activities/backup/record.ts";
import {
  ETCD_DAMAGED_ANNOTATION,
  KEPT_SNAPSHOTS_ANNOTATION,
  PREVIOUS_BUCKET_ANNOTATION,
  RESTORED_ANNOTATION,
} from "../../src/api/annotations.ts";
import { BackupBucket, BackupEntry, ExtensionBackupEntry, Seed, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Job, PersistentVolumeClaim, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createJobRunner, memoryRecords } from "../support/backup-lab.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
/** The file that the schedule has written at this time of the day. */
const at = (time: string) => `etcd-backup-${Date.parse(`2026-01-01T${time}:00Z`) / 60_000}-bcdfg.db`;
const recorded = at("10:00");
const holding = (revision: number) => ({ hash: revision, revision, totalKey: 1, totalSize: 614_400 });
const damaged = { name: "restore", exitCode: 1, message: "expected sha256 [1], got [2]" };

let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: SnapshotRecords;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
  await applyGarden(kube);
  const example = await kube.read(Seed, { name: "seed-1" });
  if (example === undefined) throw new Error("deploy/examples has no Seed seed-1");
  for (const [name, provider] of [
    ["in-store", "aws"],
    ["in-claim", "local"],
  ] as const)
    await kube.create<Seed>({ ...typeMeta(Seed), metadata: { name }, spec: { ...example.spec, backup: { provider } } });
  for (const name of ["last", "before"]) {
    const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "made", namespace: "garden" };
    const spec = { provider: { type: "azure", region: "westeurope" }, seedName: "seed-2", credentialsRef };
    await kube.apply<KubeObject>({ ...typeMeta(BackupBucket), metadata: { name }, spec });
  }
  await kube.apply<KubeObject>({ ...typeMeta(Secret), metadata: { name: "made", namespace: "garden" } });
});

/** A Shoot that is taken over by this Seed, from one whose bucket is `last`. */
const takenOverBy = async (seedName: string) => {
  const created = await createShoot(kube, `newest-${(count += 1)}`, { seedName });
  const migration = { source: "seed-2", destination: seedName, takeover: true };
  run = { ...created, seedName, operation: "Restore", epoch: 2, migration, leadershipRecord: "leader.perennial.test" };
  records = memoryRecords();
  await record(recorded, "last");
  const name = entryName();
  const shootRef = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: run.name };
  await kube.apply<KubeObject>({
    ...typeMeta(BackupEntry),
    metadata: { name, namespace: run.namespace, annotations: { [PREVIOUS_BUCKET_ANNOTATION]: "last" } },
    spec: { bucketName: "own", seedName, shootRef },
  });
  const type = seedName === "in-store" ? "aws" : "local";
  const spec = { type, region: "r", bucketName: "own", secretRef: { name: "b", namespace: "garden" } };
  await kube.apply<KubeObject>({ ...typeMeta(ExtensionBackupEntry), metadata: { name }, spec });
};
const entryName = () => `${run.technicalID}--${run.uid}`;
const record = (name: string, bucket: string) =>
  records.record(run, { name, revision: 405, hash: 1, size: 3, takenAt: "2026-01-01T10:00:04Z", bucket });

const backup = () =>
  createBackup({
    ...{ gardenClient: kube, seedClient: runner.client, records, waits: notedWaits },
    ...{ flow: () => "flow-1", now: () => now },
  });
const namesOf = (targets: readonly { readonly kind: string; readonly name: string }[]) =>
  targets.map(({ kind, name }) => `${kind} ${name}`);
const checkOf = (snapshot: string, epoch = 2) => `check-${snapshot.replace(".db", "")}-${epoch}`;
const check = async () => namesOf(await backup().checkNewestSnapshot(run, "newestSnapshot"));
const keep = () => backup().keepNewestSnapshot(run);
const latest = async () => (await records.latest(run))?.name;
const readJob = (name: string) => kube.read(Job, { namespace: run.technicalID, name });
const uidOf = async (name: string) => (await readJob(name))?.metadata.uid;

describe("a takeover, where backups are in a claim", () => {
  const says = (...snapshots: readonly string[]) =>
    kube.patch(
      refTo(ExtensionBackupEntry, { name: entryName() }),
      { status: { providerStatus: { snapshots } } },
      { subresource: "status" },
    );

  beforeEach(() => takenOverBy("in-claim"));

  test("takes the newest snapshot that its provider names, once it was restored for a try, and protects it", async () => {
    await says(at("10:00"), at("10:10"), at("10:20"));
    expect(await backup().listSnapshots(run, "listSnapshots")).toEqual([]);
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
    await expect(keep()).rejects.toThrow("has not finished");
    expect(await latest()).toBe(recorded);
    await runner.succeed(run.technicalID, checkOf(at("10:20")), holding(500));
    expect(await check()).toEqual([]);
    await keep();
    const found = { name: at("10:20"), takenAt: "2026-01-01T10:20:00Z", revision: 500, hash: 500, size: 614_400 };
    expect(await records.latest(run)).toEqual({ ...found, bucket: "last" });
    const entry = await kube.read(ExtensionBackupEntry, { name: entryName() });
    expect(entry?.metadata.annotations?.[KEPT_SNAPSHOTS_ANNOTATION]).toBe(`${at("10:20")},${recorded}`);
  });

  test("does the same when it is interrupted after any of this, and checks nothing twice", async () => {
    await says(at("10:20"));
    await check();
    const uid = await uidOf(checkOf(at("10:20")));
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
    await runner.succeed(run.technicalID, checkOf(at("10:20")), holding(500));
    await keep();
    await keep();
    expect(await check()).toEqual([]);
    expect(await uidOf(checkOf(at("10:20")))).toBe(uid);
    expect(await latest()).toBe(at("10:20"));
  });

  test("passes over a file that is damaged, and one that holds less than is recorded, and takes the next", async () => {
    await says(at("10:10"), at("10:20"), at("10:30"), at("10:40"));
    await check();
    await runner.fail(run.technicalID, checkOf(at("10:40")), damaged);
    expect(await check()).toEqual([`Job ${checkOf(at("10:30"))}`]);
    await runner.succeed(run.technicalID, checkOf(at("10:30")), holding(404));
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
    await runner.succeed(run.technicalID, checkOf(at("10:20")), holding(405));
    await keep();
    expect(await latest()).toBe(at("10:20"));
  });

  test("stays with the recorded one when every newer one is damaged", async () => {
    await says(at("10:10"));
    await check();
    await runner.fail(run.technicalID, checkOf(at("10:10")), damaged);
    expect(await check()).toEqual([]);
    await keep();
    expect(await latest()).toBe(recorded);
  });

  test.each([
    ["was ended by a signal", { name: "restore", exitCode: 137 }],
    ["found no room", { name: "restore", exitCode: 1, message: "no space left on device" }],
    ["has lost its pod", undefined],
  ])("checks a snapshot again whose Job %s", async (_, end) => {
    await says(at("10:10"), at("10:20"));
    await check();
    const uid = await uidOf(checkOf(at("10:20")));
    await runner.fail(run.technicalID, checkOf(at("10:20")), end);
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
    expect(await uidOf(checkOf(at("10:20")))).not.toBe(uid);
  });

  test("checks a snapshot again when what its pod has read is gone", async () => {
    await says(at("10:20"));
    await check();
    await runner.succeed(run.technicalID, checkOf(at("10:20")), holding(500));
    runner.forgetLogs();
    const uid = await uidOf(checkOf(at("10:20")));
    await expect(keep()).rejects.toThrow("has not finished");
    expect(await uidOf(checkOf(at("10:20")))).not.toBe(uid);
    expect(await latest()).toBe(recorded);
  });

  test("checks again under another leader", async () => {
    await says(at("10:20"));
    await check();
    await runner.fail(run.technicalID, checkOf(at("10:20")), damaged);
    run = { ...run, epoch: 3 };
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"), 3)}`]);
  });

  test("looks for nothing once its volume is made", async () => {
    await says(at("10:20"));
    const metadata = {
      name: "main-etcd-etcd-main-0",
      namespace: run.technicalID,
      annotations: { [RESTORED_ANNOTATION]: "1" },
    };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await kube.create<KubeObject>({ ...typeMeta(PersistentVolumeClaim), metadata, spec });
    expect(await check()).toEqual([]);
    await keep();
    expect(await latest()).toBe(recorded);
  });

  test("looks for nothing where nothing is recorded, nor in a planned migration", async () => {
    await says(at("10:20"));
    const { migration } = run;
    run = { ...run, migration: { source: "seed-2", destination: run.seedName, ...migration, takeover: false } };
    expect(await check()).toEqual([]);
    run = { ...run, ...(migration && { migration }) };
    records = memoryRecords();
    expect(await check()).toEqual([]);
    await keep();
    expect(await latest()).toBeUndefined();
  });

  test("goes on with the recorded one where the provider says nothing", async () => {
    expect(await check()).toEqual([]);
    await keep();
    expect(await latest()).toBe(recorded);
  });
});

describe("a takeover, where backups are in an object store", () => {
  const list = async () => namesOf(await backup().listSnapshots(run, "listSnapshots"));
  const listed = (...names: readonly string[]) =>
    runner.succeed(run.technicalID, "list-snapshots-2", names.map((name) => `${name}\n`).join(""));
  const source = () => refTo(ExtensionBackupEntry, { name: `source-${entryName()}` });

  beforeEach(() => takenOverBy("in-store"));

  test("lists the bucket into which the last leader wrote, and checks the newest one from there", async () => {
    expect(await list()).toEqual([`BackupEntry ${source().name}`, "Job list-snapshots-2"]);
    expect(await kube.read(source())).toMatchObject({ spec: { type: "azure", bucketName: "last" } });
    await listed(recorded, at("10:10"), "final-snapshot-1-bcdfg.db", at("10:20"));
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
    expect(JSON.stringify(await readJob(checkOf(at("10:20"))))).toContain("source:$(SOURCE_BUCKET)");
    await runner.succeed(run.technicalID, checkOf(at("10:20")), holding(500));
    await keep();
    expect(await records.latest(run)).toMatchObject({ name: at("10:20"), bucket: "last" });
    expect(namesOf(await backup().copySnapshot(run, "copiedBackups"))).toEqual([
      `BackupEntry ${source().name}`,
      `Job copy-${at("10:20").replace(".db", "")}`,
    ]);
  });

  test("looks there also when the last leader has recorded nothing of its own yet", async () => {
    await record(recorded, "before");
    await backup().copySnapshot(run, "backupEntry");
    await kube.apply<KubeObject>({
      ...typeMeta(Secret),
      metadata: { name: "source-etcd-backup", namespace: run.technicalID },
    });
    await list();
    expect(await kube.read(source())).toMatchObject({ spec: { bucketName: "last" } });
    // No pod takes the credentials of the one bucket for those of the other.
    expect(await kube.read(Secret, { name: "source-etcd-backup", namespace: run.technicalID })).toBeUndefined();
    await listed(at("10:10"));
    expect(await check()).toEqual([`Job ${checkOf(at("10:10"))}`]);
  });

  test("lists its own bucket when the last leader wrote into that", async () => {
    const { uid = "" } = (await kube.read(Seed, { name: "in-store" }))?.metadata ?? {};
    const ref = refTo(BackupEntry, { name: entryName(), namespace: run.namespace });
    await kube.patch(ref, { metadata: { annotations: { [PREVIOUS_BUCKET_ANNOTATION]: uid } } });
    expect(await list()).toEqual(["Job list-snapshots-2"]);
    expect(JSON.stringify(await readJob("list-snapshots-2"))).toContain("store:$(STORE_BUCKET)");
  });

  test("takes a bucket that shows nothing for another one, and lists it anew when it is asked to retry", async () => {
    await list();
    await listed();
    await expect(check()).rejects.toMatchObject({
      message: expect.stringContaining(`BackupBucket last shows no snapshot ${recorded}`) as string,
      retryable: false,
    });
    await expect(check()).rejects.toThrow("are listed anew");
    await listed(recorded);
    expect(await check()).toEqual([]);
    await keep();
    expect(await latest()).toBe(recorded);
  });

  test("lists anew when the list cannot be read any more, and whenever the step begins again", async () => {
    await list();
    await listed(recorded);
    runner.forgetLogs();
    await expect(keep()).rejects.toThrow("are listed anew");
    await listed(recorded);
    const uid = await uidOf("list-snapshots-2");
    await list();
    expect(await uidOf("list-snapshots-2")).not.toBe(uid);
  });

  test("takes no older one because the newest cannot be downloaded", async () => {
    await list();
    await listed(recorded, at("10:10"), at("10:20"));
    await check();
    await runner.fail(run.technicalID, checkOf(at("10:20")), { name: "download", exitCode: 3 });
    expect(await check()).toEqual([`Job ${checkOf(at("10:20"))}`]);
  });

  test("says so when the bucket of the last leader is not known any more", async () => {
    await kube.remove(refTo(BackupBucket, { name: "last" }));
    try {
      await expect(list()).rejects.toThrow(
        `the backups of etcd-main of ${run.technicalID} are in BackupBucket last, which does not exist in the garden`,
      );
    } finally {
      const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "made", namespace: "garden" };
      const spec = { provider: { type: "azure", region: "westeurope" }, seedName: "seed-2", credentialsRef };
      await kube.apply<KubeObject>({ ...typeMeta(BackupBucket), metadata: { name: "last" }, spec });
    }
  });
});

test("a repair looks into the bucket of the seed that leads, whichever bucket the Shoot has come from", async () => {
  await takenOverBy("in-store");
  const { uid = "" } = (await kube.read(Seed, { name: "in-store" }))?.metadata ?? {};
  await record(recorded, uid);
  const { migration: _, ...others } = run;
  run = { ...others, operation: "Reconcile", etcdDamaged: true };
  const metadata = {
    name: "main-etcd-etcd-main-0",
    namespace: run.technicalID,
    annotations: { [RESTORED_ANNOTATION]: "2", [ETCD_DAMAGED_ANNOTATION]: "wal: crc mismatch" },
  };
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await kube.create<KubeObject>({ ...typeMeta(PersistentVolumeClaim), metadata, spec });
  expect(namesOf(await backup().listSnapshots(run, "listSnapshots"))).toEqual(["Job list-snapshots-2"]);
  expect(JSON.stringify(await readJob("list-snapshots-2"))).toContain("store:$(STORE_BUCKET)");
  await runner.succeed(run.technicalID, "list-snapshots-2", `${recorded}\n${at("10:10")}\n`);
  expect(await check()).toEqual([`Job ${checkOf(at("10:10"))}`]);
  await runner.succeed(run.technicalID, checkOf(at("10:10")), holding(500));
  await keep();
  expect(await records.latest(run)).toMatchObject({ name: at("10:10"), bucket: uid });
});

import { afterAll, beforeEach, describe, expect } from "vitest";
import { deployBackupEntry } from "../../src/activities/backup/entry.ts";
import { readContext } from "../../src/activities/control-plane/context.ts";
import type { SnapshotRecords } from "../../src/activities/backup/record.ts";
import { EPOCH_ANNOTATION, PREVIOUS_BUCKET_ANNOTATION } from "../../src/api/annotations.ts";
import {
  BackupBucket,
  BackupEntry,
  ExtensionBackupBucket,
  ExtensionBackupEntry,
  Seed,
  Shoot,
} from "../../src/api/index.ts";
import { SEED_WORKER_CONTROLLER } from "../../src/api/names.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Event, Job, refOf, refTo, Secret, typeMeta, type KubeClient, type ObjectRef } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createBackupBucketKeeper } from "../../src/worker/backup/bucket.ts";
import { createBackupEntryKeeper } from "../../src/worker/backup/entry.ts";
import { createBackups } from "../../src/worker/backup/backups.ts";
import { createSnapshotFailures, type SnapshotFailures } from "../../src/worker/backup/snapshot-failures.ts";
import { createJobRunner, memoryRecords } from "../support/backup-lab.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const core = "core.gardener.cloud/v1beta1";
const extensions = "extensions.gardener.cloud/v1alpha1";
const day = 24 * 3_600_000;
let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: SnapshotRecords;
let failures: SnapshotFailures;
let backups: ReturnType<typeof createBackups>;
let bucket: string;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
  records = memoryRecords();
  await applyGarden(kube);
  await kube.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "backup", namespace: "garden" } });
  const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "backup", namespace: "garden" };
  const backup = { provider: "local", region: "local", credentialsRef };
  const seed = await kube.patch(refTo(Seed, { name: "seed-1" }), { spec: { backup } });
  bucket = seed.metadata.uid ?? "";
  const reporter = { client: kube, controller: SEED_WORKER_CONTROLLER, instance: "test" };
  failures = createSnapshotFailures({ seedClient: kube, reporter, log });
  backups = createBackups({
    gardenClient: kube,
    seedClient: runner.client,
    seedName: "seed-1",
    records,
    failures,
    grace: day,
    log,
  });
  backups.start();
});
afterAll(async () => await backups.stop());

const soon = <T>(look: () => Promise<T>) => eventually(look);
const providerBucket = () => kube.read(ExtensionBackupBucket, { name: bucket });
const succeeded = (type: string) => ({
  lastOperation: {
    type,
    state: "Succeeded",
    progress: 100,
    description: "done",
    lastUpdateTime: "2026-01-01T10:00:00Z",
  },
});
const answer = async (kind: string, name: string, status: object) => {
  const ref = { apiVersion: extensions, kind, name };
  await kube.patch(ref, { metadata: { annotations: { "gardener.cloud/operation": null } } });
  await kube.patch(ref, { status }, { subresource: "status" });
};

describe("a Seed's bucket", () => {
  test("is asked of its provider once, with the Seed's credentials, and again when they change", async () => {
    const asked = await soon(async () => {
      const object = await providerBucket();
      expect(object?.metadata.annotations?.["gardener.cloud/operation"]).toBe("reconcile");
      return object;
    });
    expect(asked?.spec).toMatchObject({ type: "local", region: "local", secretRef: { name: `bucket-${bucket}` } });
    await answer("BackupBucket", bucket, { ...succeeded("Create"), providerStatus: { made: "yes" } });
    await soon(async () => {
      const object = await kube.read(BackupBucket, { name: bucket });
      expect(object?.status).toMatchObject({ ...succeeded("Create"), providerStatus: { made: "yes" } });
    });
    expect((await providerBucket())?.metadata.annotations?.["gardener.cloud/operation"]).toBeUndefined();

    await kube.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "backup", namespace: "garden" },
      data: { key: "bmV3" },
    } as never);
    await kube.patch(refTo(Seed, { name: "seed-1" }), { metadata: { labels: { look: "now" } } });
    await soon(async () =>
      expect((await providerBucket())?.metadata.annotations?.["gardener.cloud/operation"]).toBe("reconcile"),
    );
    expect(await kube.read(Secret, { namespace: "garden", name: `bucket-${bucket}` })).toMatchObject({
      data: { key: "bmV3" },
    });
    await answer("BackupBucket", bucket, succeeded("Reconcile"));
  });

  test("leaves the credentials that came with it in the garden, for when the seed is gone", async () => {
    const made = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `generated-bucket-${bucket}`, namespace: "garden" },
    };
    await kube.apply({ ...made, data: { key: "bWFkZQ==" } } as never);
    const generatedSecretRef = { name: made.metadata.name, namespace: "garden" };
    await answer("BackupBucket", bucket, { ...succeeded("Reconcile"), generatedSecretRef });
    const kept = { name: `bucket-${bucket}-generated`, namespace: "garden" };
    await soon(async () => {
      const object = await kube.read(BackupBucket, { name: bucket });
      expect(object?.status?.generatedSecretRef).toEqual(kept);
    });
    expect(await kube.read(Secret, kept)).toMatchObject({ data: { key: "bWFkZQ==" } });
    await answer("BackupBucket", bucket, { generatedSecretRef: null });
  });

  test.each([
    ["another name", "another", "garden"],
    ["a name that goes on", "bucket-UIDs", "garden"],
    ["the right name in another namespace", "generated-bucket-UID", "default"],
  ])("leaves nothing of a Secret that is not its own there: %s", async (_, pattern, namespace) => {
    const name = pattern.replace("UID", bucket);
    const kept = { name: `bucket-${bucket}-generated`, namespace: "garden" };
    await kube.remove(refTo(Secret, kept));
    await kube.apply({ ...typeMeta(Secret), metadata: { name, namespace }, data: { key: "c2VjcmV0" } } as never);
    await answer("BackupBucket", bucket, { ...succeeded("Reconcile"), generatedSecretRef: { name, namespace } });
    const keeper = createBackupBucketKeeper({ gardenClient: kube, seedClient: kube, seedName: "seed-1" });
    await expect(keeper.reconcile({ name: "seed-1" })).rejects.toThrow(
      `status.generatedSecretRef of BackupBucket ${bucket} names Secret ${namespace}/${name}, which is not the bucket's`,
    );
    expect(await kube.read(Secret, kept)).toBeUndefined();
    await answer("BackupBucket", bucket, { generatedSecretRef: null });
  });
});

describe("the bucket of a Seed that goes", () => {
  const name = "seed-7";
  const keep = (seedClient = kube) =>
    createBackupBucketKeeper({ gardenClient: kube, seedClient, seedName: name }).reconcile({ name });
  const seedRef = refTo(Seed, { name });
  const bucketRef = (of: string) => refTo(BackupBucket, { name: of });
  const secretOf = (of: string) => kube.read(Secret, { namespace: "garden", name: `bucket-${of}` });
  /** A Seed of that name, with its bucket; returns the bucket's name. */
  const build = async () => {
    const { spec } = (await kube.read({ ...seedRef, name: "seed-1" })) ?? {};
    const seed = await kube.apply<Seed>({ apiVersion: core, kind: "Seed", metadata: { name }, spec } as Seed);
    await keep();
    return seed.metadata.uid ?? "";
  };

  test("is the Seed's, so that Kubernetes deletes it too; it is taken away when no entry is left in it", async () => {
    const own = await build();
    expect(await kube.read(bucketRef(own))).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion: core, kind: "Seed", name, uid: own }] },
    });
    const entry = refTo(ExtensionBackupEntry, { name: "in-it" });
    const spec = { type: "local", region: "local", bucketName: own, secretRef: { name: "in-it", namespace: "garden" } };
    await kube.apply({ apiVersion: extensions, kind: "BackupEntry", metadata: { name: entry.name }, spec } as never);
    await kube.remove(seedRef);
    await keep();
    expect((await kube.read(bucketRef(own)))?.metadata.deletionTimestamp).toBeUndefined();

    await kube.remove(bucketRef(own)); // as the garbage collector does, or somebody
    await expect(keep()).rejects.toThrow("1 BackupEntry is in it");
    expect(await kube.read(ExtensionBackupBucket, { name: own })).toBeDefined();

    await kube.remove(entry);
    await keep();
    await keep();
    expect(await kube.read(ExtensionBackupBucket, { name: own })).toBeUndefined();
    expect(await kube.read(bucketRef(own))).toBeUndefined();
    expect(await secretOf(own)).toBeUndefined();
  });

  test("is written with the fields that its kinds have, and no other", async () => {
    const written: KubeObject[] = [];
    const noting: KubeClient = {
      ...kube,
      apply: (async (...args: [KubeObject]) => {
        written.push(args[0]);
        return await kube.apply(...args);
      }) as KubeClient["apply"],
    };
    await kube.remove(seedRef);
    const { spec } = (await kube.read({ ...seedRef, name: "seed-1" })) ?? {};
    await kube.apply<Seed>({ apiVersion: core, kind: "Seed", metadata: { name }, spec } as Seed);
    await createBackupBucketKeeper({ gardenClient: noting, seedClient: noting, seedName: name }).reconcile({ name });
    const fields = written.filter(({ kind }) => kind === "BackupBucket").map((object) => Object.keys(object).sort());
    expect(fields).toEqual(Array.from({ length: 2 }, () => ["apiVersion", "kind", "metadata", "spec"]));
    await kube.remove(seedRef);
  });

  test("goes although another Seed has its name, and that one keeps its own", async () => {
    const former = await build();
    await kube.remove(seedRef);
    const own = await build();
    await kube.remove(bucketRef(former));
    await keep();
    await keep();
    expect(await kube.read(bucketRef(former))).toBeUndefined();
    expect((await kube.read(bucketRef(own)))?.metadata.deletionTimestamp).toBeUndefined();
    await kube.remove(seedRef);
  });

  test("is not asked of its provider again when the answer comes between a read and a write", async () => {
    const own = await build();
    const hasty: KubeClient = {
      ...kube,
      read: (async (...args: [ObjectRef]) => {
        const object = await kube.read(...args);
        if (args[0].kind === "BackupBucket") await answer("BackupBucket", own, succeeded("Create"));
        return object as never;
      }) as KubeClient["read"],
    };
    await expect(keep(hasty)).rejects.toThrow();
    const { annotations } = (await kube.read(ExtensionBackupBucket, { name: own }))?.metadata ?? {};
    expect(annotations?.["gardener.cloud/operation"]).toBeUndefined();
    await kube.remove(seedRef);
  });
});

describe("a Shoot's backups", () => {
  let run: ShootRun;
  let name: string;
  const entryRef = () => refTo(BackupEntry, { namespace: "garden-dev", name });
  const inGarden = () => kube.read(entryRef());
  const inSeed = () => kube.read(ExtensionBackupEntry, { name });
  const deploy = async (epoch: number) => {
    const context = await readContext(kube, kube, run);
    return await deployBackupEntry({ gardenClient: kube, seedClient: kube, context, epoch });
  };
  /** As the flow and the provider would. */
  const build = async () => {
    const entry = await deploy(1);
    const leadership = { record: "r", value: "seed-1", leaseSeconds: 60, epoch: 1 };
    await kube.apply({ ...entry, spec: { ...entry.spec, leadership } } as never);
    await kube.patch(refTo(ExtensionBackupEntry, { name }), { metadata: { finalizers: ["provider.dev/x"] } });
    await answer("BackupEntry", name, succeeded("Create"));
  };
  /** Another seed's than the one whose worker runs: only looks at a time of the test's choosing are taken. */
  const later = "seed-9";
  const handOver = () => kube.patch(entryRef(), { spec: { seedName: later } });
  const keeper = (now: number) =>
    createBackupEntryKeeper({ gardenClient: kube, seedClient: kube, seedName: later, grace: day, now: () => now });
  const look = (now: number) => keeper(now).reconcile({ namespace: "garden-dev", name });
  const shootRef = () => refTo(Shoot, { namespace: "garden-dev", name: run.name });
  /** As the manager does it. */
  const markGone = (time: number) => {
    const annotations = { "perennial.dev/shoot-gone-since": new Date(time).toISOString() };
    return kube.patch(entryRef(), { metadata: { annotations } });
  };

  beforeEach(async () => {
    run = await createShoot(kube, `backups-${(count += 1)}`);
    name = `${run.technicalID}--${run.uid}`;
  });

  test("are named in the garden, with their Shoot, seed and bucket", async () => {
    await build();
    await soon(async () =>
      expect((await inGarden())?.status).toMatchObject({ ...succeeded("Create"), seedName: "seed-1" }),
    );
    expect(await inGarden()).toMatchObject({
      metadata: { finalizers: ["gardener"], ownerReferences: [{ kind: "Shoot", uid: run.uid }] },
      spec: { bucketName: bucket, seedName: "seed-1", shootRef: { name: run.name } },
    });
    expect(await kube.read(Secret, { namespace: "garden", name: `entry-${name}` })).toBeDefined();
  });

  const begin = (epoch: number) => {
    const leadership = { record: "r", seed: "seed-1", leaseSeconds: 60, epoch };
    return kube.patch(shootRef(), { status: { leadership } }, { subresource: "status" });
  };

  test("are never claimed for an earlier leader's seed", async () => {
    await deploy(9);
    await begin(10);
    await deploy(10);
    await expect(deploy(9)).rejects.toThrow("epoch 9 is over, 10 leads");
  });

  test("go with their Shoot to the seed that leads now and its bucket, which knows the one before", async () => {
    const { spec } = (await kube.read(Seed, { name: "seed-1" })) ?? expect.fail("there is no Seed seed-1");
    const other = await kube.create<Seed>({ ...typeMeta(Seed), metadata: { name: "seed-2" }, spec });
    const place = (await providerBucket()) ?? expect.fail("there is no bucket");
    const { uid = "" } = other.metadata;
    await kube.create({ ...typeMeta(ExtensionBackupBucket), metadata: { name: uid }, spec: place.spec });
    await answer("BackupBucket", uid, succeeded("Create"));
    await begin(1);
    await deploy(1);
    expect((await inGarden())?.spec).toMatchObject({ seedName: "seed-1", bucketName: bucket });
    run = { ...run, seedName: "seed-2" };
    await begin(2);
    await deploy(2);
    expect(await inGarden()).toMatchObject({
      metadata: { annotations: { [EPOCH_ANNOTATION]: "2", [PREVIOUS_BUCKET_ANNOTATION]: bucket } },
      spec: { seedName: "seed-2", bucketName: uid },
    });
    for (const ref of [refTo(ExtensionBackupBucket, { name: uid }), refOf(other)]) await kube.remove(ref);
  });

  test("are claimed for the leader's seed although a seed before it wrote an epoch that the Shoot has not reached", async () => {
    await begin(1);
    await deploy(1);
    await kube.patch(entryRef(), { metadata: { annotations: { [EPOCH_ANNOTATION]: "999999999" } } });
    await begin(2);
    await deploy(2);
    expect((await inGarden())?.metadata.annotations?.[EPOCH_ANNOTATION]).toBe("2");
    await expect(deploy(1)).rejects.toThrow("epoch 1 is over, 2 leads");
  });

  test("stay while their Shoot is there, and for the grace period after it, even when their entry is deleted", async () => {
    await build();
    await handOver();
    const gone = Date.now() + 30 * day; // long after its entry was deleted
    const end = gone + day;
    await kube.remove(entryRef());
    await look(gone - 1);
    expect((await inSeed())?.metadata.deletionTimestamp).toBeUndefined();
    expect((await inSeed())?.spec.leadership).toBeDefined();

    await markGone(gone); // by mistake
    await look(end + 60_000);
    expect((await inSeed())?.metadata.deletionTimestamp).toBeUndefined();
    expect((await inSeed())?.spec.leadership).toBeDefined();

    await kube.remove(shootRef());
    await look(end - 60_000);
    expect((await inSeed())?.metadata.deletionTimestamp).toBeUndefined();
    expect((await inSeed())?.spec.leadership).toBeUndefined();
    expect(await inGarden()).toBeDefined();

    await look(end + 60_000);
    const deleted = await inSeed();
    expect(deleted?.metadata.deletionTimestamp).toBeDefined();
    expect(deleted?.metadata.annotations?.["confirmation.gardener.cloud/deletion"]).toBe("true");
    await look(end + 60_000);
    expect(await inGarden()).toBeDefined();

    await kube.patch(refTo(ExtensionBackupEntry, { name }), { metadata: { finalizers: [] } });
    await look(end + 60_000);
    expect(await inGarden()).toBeUndefined();
    expect(await kube.read(Secret, { namespace: "garden", name: `entry-${name}` })).toBeUndefined();
  });

  test("are left to the seed that has them now", async () => {
    await build();
    await kube.patch(entryRef(), { spec: { seedName: "seed-2" } });
    await kube.remove(entryRef());
    await kube.remove(shootRef());
    await markGone(Date.now());
    await look(Date.now() + 2 * day);
    expect((await inSeed())?.metadata.deletionTimestamp).toBeUndefined();
    expect((await inSeed())?.spec.leadership).toBeDefined();
  });

  test("are recorded as their pods have read them, while this seed leads", async () => {
    await lead();
    await takeScheduled("etcd-backup-1");
    const first = await runner.succeed(run.technicalID, "etcd-backup-1", { hash: 1, revision: 7, totalSize: 9 });
    await soon(async () => expect(await records.latest(run)).toMatchObject({ name: first, revision: 7, bucket }));

    await kube.patch(shootRef(), { status: { seedName: "seed-2" } }, { subresource: "status" });
    await takeScheduled("etcd-backup-2");
    await runner.succeed(run.technicalID, "etcd-backup-2", { hash: 1, revision: 8, totalSize: 9 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await records.latest(run)).toMatchObject({ name: first });
  });

  test("that fail are told of, until a later one succeeds or the Job is gone", async () => {
    await lead();
    const health = () => failures.readiness(run.technicalID);
    const ofShoot = async () =>
      (await kube.list(Event, { namespace: "garden-dev" })).filter(
        ({ regarding }) => (regarding as { uid?: string }).uid === run.uid,
      );
    expect(health()).toEqual({ reached: true });

    await takeScheduled("etcd-backup-3");
    await runner.fail(run.technicalID, "etcd-backup-3");
    await soon(async () => expect(health()).toMatchObject({ reached: false }));
    expect(health()).toMatchObject({ message: "scheduled snapshot etcd-backup-3: it failed: Test" });
    await soon(async () =>
      expect(await ofShoot()).toMatchObject([
        { type: "Warning", reason: "BackupFailed", note: "scheduled snapshot etcd-backup-3: it failed: Test" },
      ]),
    );

    await takeScheduled("etcd-backup-4");
    await runner.succeed(run.technicalID, "etcd-backup-4", { hash: 1, revision: 9, totalSize: 9 });
    await soon(async () => expect(health()).toEqual({ reached: true }));

    await takeScheduled("etcd-backup-5");
    await runner.fail(run.technicalID, "etcd-backup-5");
    await soon(async () => expect(health()).toMatchObject({ reached: false }));
    await kube.remove(refTo(Job, { namespace: run.technicalID, name: "etcd-backup-5" }), {
      propagationPolicy: "Background",
    });
    await soon(async () => expect(health()).toEqual({ reached: true }));
  });

  /** The Shoot is this seed's, which knows it. */
  const lead = async () => {
    await build();
    const shoot = { metadata: { name: run.name, namespace: "garden-dev", uid: run.uid } };
    await kube.apply({
      apiVersion: extensions,
      kind: "Cluster",
      metadata: { name: run.technicalID },
      spec: { cloudProfile: {}, seed: {}, shoot },
    } as never);
    await kube.patch(shootRef(), { status: { seedName: "seed-1" } }, { subresource: "status" });
  };

  const takeScheduled = (job: string) =>
    kube.apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: job, namespace: run.technicalID, labels: { "perennial.dev/snapshot": "scheduled" } },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "verify", image: "etcd" }] } } },
    } as never);
});

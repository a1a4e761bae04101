import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect } from "vitest";
import { ExtensionBackupEntry, type KubeObject } from "../../src/api/index.ts";
import { createExtensionController } from "../../src/extension/index.ts";
import { PersistentVolume, PersistentVolumeClaim, refOf, refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createBackupBucketActuator } from "../../src/provider-local/backup/bucket.ts";
import { createBackupEntryActuator } from "../../src/provider-local/backup/entry.ts";
import { createBuckets } from "../../src/provider-local/backup/buckets.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const apiVersion = "extensions.gardener.cloud/v1alpha1";
let plane: ControlPlane;
let directory: string;
let controllers: ReturnType<typeof createExtensionController>[];
let count = 0;
let namespace: string;
let entry: string;

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  directory = await mkdtemp(join(tmpdir(), "backups-"));
  const buckets = createBuckets(directory);
  const common = { client: plane.client, type: "local", log };
  controllers = [
    createExtensionController({ ...common, kind: "BackupBucket", actuator: createBackupBucketActuator(buckets) }),
    createExtensionController({ ...common, kind: "BackupEntry", actuator: createBackupEntryActuator(buckets) }),
  ];
  for (const controller of controllers) controller.start();
  await Promise.all(["old", "new"].map((bucket) => apply("BackupBucket", bucket, {})));
  await eventually(async () => expect(await readdir(directory)).toEqual(["new", "old"]));
});
afterAll(async () => {
  await Promise.all(controllers.map((controller) => controller.stop()));
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  namespace = `shoot--dev--b${++count}`;
  entry = `${namespace}--0000-uid`;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

const bucketSpec = { type: "local", region: "local", secretRef: { name: "backup", namespace: "garden" } };

const apply = (kind: string, name: string, spec: object, annotations: Record<string, string> = {}) => {
  return plane.client.apply({ apiVersion, kind, metadata: { name, annotations }, spec: { ...bucketSpec, ...spec } });
};

const settled = (type: string) =>
  eventually(async () => {
    const object = await plane.client.read(ExtensionBackupEntry, { name: entry });
    expect(object?.status?.lastOperation).toMatchObject({ type, state: "Succeeded" });
    expect(object?.metadata.annotations?.["gardener.cloud/operation"]).toBeUndefined();
    return object;
  });

const volumeOf = () => plane.client.read(PersistentVolume, { name: `backup-${entry}` });
const claimOf = () => plane.client.read(PersistentVolumeClaim, { namespace, name: "etcd-backup" });

describe("a BackupEntry", () => {
  test("lets its Shoot's namespace reach a directory of the bucket, and says which bucket that is", async () => {
    await apply("BackupEntry", entry, { bucketName: "old" });
    const object = await settled("Create");
    expect(object?.status?.state).toEqual({ bucketName: "old", region: "local" });
    const path = join(directory, "old", entry);
    expect(await volumeOf()).toMatchObject({
      metadata: { ownerReferences: [{ kind: "BackupEntry", name: entry, uid: object?.metadata.uid }] },
      spec: { hostPath: { path }, claimRef: { namespace, name: "etcd-backup" } },
    });
    expect(await claimOf()).toMatchObject({ spec: { volumeName: `backup-${entry}` } });
  });

  test("brings along the snapshots of the bucket that its state names, again and again, and forgets neither bucket", async () => {
    const old = await comeFromOld();
    const restored = await settled("Restore");
    expect(restored?.status?.state).toEqual({ bucketName: "new", region: "local", from: "old", left: ["old"] });
    expect(await readdir(join(directory, "new", entry))).toEqual(["first.db"]);

    await writeFile(join(old, "final.db"), "2");
    await ask("restore");
    await eventually(async () =>
      expect(await readdir(join(directory, "new", entry))).toEqual(["final.db", "first.db"]),
    );
    expect(await readdir(old)).toEqual(["final.db", "first.db"]);
  });

  test("names the snapshots that the last seed had, when it is restored, and none that an earlier one wrote", async () => {
    const old = await comeFromOld("wait-for-state", { bucketName: "old", region: "local", from: "middle" });
    await mkdir(join(directory, "middle", entry), { recursive: true });
    await writeFile(join(directory, "middle", entry, "of-an-earlier-seed.db"), "1");
    await writeFile(join(old, "second.db"), "2");
    await writeFile(join(old, "third.db.part"), "3");
    await ask("restore");
    const named = { snapshots: ["first.db", "second.db"] };
    expect((await settled("Restore"))?.status?.providerStatus).toEqual(named);
    await writeFile(join(old, "third.db"), "3");
    await ask("restore");
    const more = { snapshots: [...named.snapshots, "third.db"] };
    expect((await settled("Restore"))?.status?.providerStatus).toEqual(more);
    await rm(old, { recursive: true });
    await ask("restore");
    expect((await settled("Restore"))?.status?.providerStatus).toEqual(more);
    await rm(join(directory, "middle"), { recursive: true });
  });

  test("needs its old bucket no more, once it has come: a reconciliation copies nothing, and a restore what is there", async () => {
    const old = await comeFromOld();
    await settled("Restore");
    await writeFile(join(old, "late.db"), "2");
    await ask("reconcile");
    expect((await settled("Reconcile"))?.status?.state).toMatchObject({ bucketName: "new", from: "old" });
    expect(await readdir(join(directory, "new", entry))).toEqual(["first.db"]);

    await rm(old, { recursive: true });
    for (const [operation, type] of [
      ["reconcile", "Reconcile"],
      ["restore", "Restore"],
    ] as const) {
      await ask(operation);
      expect((await settled(type))?.status?.state).toMatchObject({ bucketName: "new", from: "old" });
    }
    expect(await readdir(join(directory, "new", entry))).toEqual(["first.db"]);
  });

  test("brings along what had not come to the bucket where it was last", async () => {
    const old = await comeFromOld("wait-for-state", { bucketName: "middle", region: "local", from: "old" });
    await mkdir(join(directory, "middle", entry), { recursive: true });
    await writeFile(join(directory, "middle", entry, "second.db"), "2");
    await ask("restore");
    expect((await settled("Restore"))?.status?.state).toMatchObject({ bucketName: "new", from: "middle" });
    expect((await readdir(join(directory, "new", entry))).sort()).toEqual(["first.db", "second.db"]);

    await rm(old, { recursive: true });
    await ask("restore"); // the middle one has it all, and is all that it knows
    expect((await settled("Restore"))?.status?.state).toMatchObject({ from: "middle" });
  });

  test("keeps the snapshots that it names, whatever else expires", async () => {
    await apply("BackupEntry", entry, { bucketName: "old" }, { "perennial.dev/kept-snapshots": "next,s1.db" });
    await settled("Create");
    const hour = 3_600_000;
    const lastWeek = Date.now() - 9 * 24 * hour;
    for (let i = 0; i < 27; i += 1) {
      const file = join(directory, "old", entry, `s${i}.db`);
      await writeFile(file, "1");
      await utimes(file, (lastWeek + i) / 1000, (lastWeek + i) / 1000);
    }
    await ask("reconcile");
    await settled("Reconcile");
    const left = await readdir(join(directory, "old", entry));
    expect(left).toHaveLength(25);
    expect(left).toContain("s1.db");
  });

  test("is not restored without what it is to bring along", async () => {
    const saysWhy = async (why: string) => {
      await ask("restore");
      await eventually(async () => {
        const object = await plane.client.read(ExtensionBackupEntry, { name: entry });
        expect(object?.status).toMatchObject({
          lastOperation: { type: "Restore", state: "Error" },
          lastError: { description: expect.stringContaining(why) as string },
        });
      });
    };
    const old = await comeFromOld("wait-for-state");
    await writeFile(join(old, "second.db"), "2");
    const obstacle = join(directory, "new", entry, "second.db");
    await mkdir(obstacle, { recursive: true });
    await saysWhy("cannot copy second.db from bucket old to new: EISDIR");
    await rm(obstacle, { recursive: true });
    await rm(old, { recursive: true });
    await saysWhy("cannot copy backups from bucket old: ");
    await plane.client.patch(refTo(ExtensionBackupEntry, { name: entry }), { metadata: { finalizers: null } });
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
  });

  test("says what is wrong with a state that another seed wrote", async () => {
    await comeFromOld("wait-for-state", { bucketName: "old", left: "old" });
    await ask("restore");
    await eventually(async () => {
      const object = await plane.client.read(ExtensionBackupEntry, { name: entry });
      expect(object?.status?.lastError?.description).toMatch(/status\.state\.left: .*name the buckets/);
    });
    expect(await readdir(join(directory, "new"))).not.toContain(entry);
  });

  test("goes with its snapshots, but a migrated one leaves them", async () => {
    await apply("BackupEntry", entry, { bucketName: "old" });
    await settled("Create");
    await writeFile(join(directory, "old", entry, "a.db"), "1");
    await ask("migrate");
    await settled("Migrate");
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
    await gone();
    expect(await readdir(join(directory, "old", entry))).toEqual(["a.db"]);

    await apply("BackupEntry", entry, { bucketName: "old" });
    await settled("Create");
    await loosen();
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
    await gone();
    expect(await readdir(join(directory, "old"))).not.toContain(entry);
    expect(await volumeOf()).toBeUndefined();
  });

  test("of an earlier Shoot leaves the claim of a later Shoot of that name alone", async () => {
    const annotations = { "shoot.gardener.cloud/uid": "1111-uid" };
    await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, annotations } });
    const later = `${namespace}--1111-uid`;
    await apply("BackupEntry", entry, { bucketName: "old" });
    await settled("Create");
    expect(await claimOf()).toBeUndefined();
    await apply("BackupEntry", later, { bucketName: "old" });
    await eventually(async () => expect(await claimOf()).toMatchObject({ spec: { volumeName: `backup-${later}` } }));
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
    await gone();
    expect((await claimOf())?.metadata.deletionTimestamp).toBeUndefined();
    expect(await claimOf()).toMatchObject({ spec: { volumeName: `backup-${later}` } });
    expect(await readdir(join(directory, "old"))).not.toContain(entry);
  });

  test("of an earlier Shoot goes where a later Shoot's claim has taken the place of its own", async () => {
    await apply("BackupEntry", entry, { bucketName: "old" });
    await settled("Create");
    const own = await claimOf();
    if (own) await plane.client.patch(refOf<KubeObject>(own), { metadata: { finalizers: null } });
    await plane.client.remove(refTo(PersistentVolumeClaim, { namespace, name: "etcd-backup" }));
    const later = `${namespace}--1111-uid`;
    await apply("BackupEntry", later, { bucketName: "old" });
    await eventually(async () => expect(await claimOf()).toMatchObject({ spec: { volumeName: `backup-${later}` } }));
    const volume = await volumeOf();
    if (volume) await plane.client.patch(refOf<KubeObject>(volume), { metadata: { finalizers: null } });
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
    await gone();
    expect((await claimOf())?.metadata.deletionTimestamp).toBeUndefined();
    expect(await volumeOf()).toBeUndefined();
  });

  test("goes from every bucket in which it has been", async () => {
    await apply("BackupBucket", "first", {});
    await eventually(async () => expect(await readdir(directory)).toContain("first"));
    await mkdir(join(directory, "first", entry));
    await comeFromOld("restore", { bucketName: "old", region: "local", from: "first" });
    const { status } = (await settled("Restore")) ?? {};
    expect(status?.state).toEqual({ bucketName: "new", region: "local", from: "old", left: ["first", "old"] });
    await loosen();
    await plane.client.remove(refTo(ExtensionBackupEntry, { name: entry }));
    await gone();
    for (const bucket of ["first", "old", "new"])
      expect(await readdir(join(directory, bucket)), bucket).not.toContain(entry);
  });
});

/** An entry that waits in the new bucket, or is restored there, with one snapshot in the old one; returns the old path. */
async function comeFromOld(
  then: "wait-for-state" | "restore" = "restore",
  state: object = { bucketName: "old", region: "local" },
): Promise<string> {
  const old = join(directory, "old", entry);
  await mkdir(old);
  await writeFile(join(old, "first.db"), "1");
  await apply("BackupEntry", entry, { bucketName: "new" }, { "gardener.cloud/operation": "wait-for-state" });
  const ref = refTo(ExtensionBackupEntry, { name: entry });
  await plane.client.patch(ref, { status: { state } }, { subresource: "status" });
  if (then === "restore") await ask("restore");
  return old;
}

const ask = (operation: string) =>
  plane.client.patch(refTo(ExtensionBackupEntry, { name: entry }), {
    metadata: {
      annotations: { "gardener.cloud/operation": operation, "gardener.cloud/timestamp": String(Date.now()) },
    },
  });

const gone = () =>
  eventually(async () => {
    expect(await plane.client.read(ExtensionBackupEntry, { name: entry })).toBeUndefined();
  });

/** What Kubernetes' controllers do once no pod uses a volume. */
async function loosen(): Promise<void> {
  for (const held of [await claimOf(), await volumeOf()])
    if (held) await plane.client.patch(refOf<KubeObject>(held), { metadata: { finalizers: null } });
}

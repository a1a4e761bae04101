import { beforeEach, describe, expect } from "vitest";
import { createBackup } from "../../src/activities/backup/backup.ts";
import { createComponents } from "../../src/activities/control-plane/components.ts";
import type { WaitTarget } from "../../src/activities/index.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { RESTORED_ANNOTATION } from "../../src/api/annotations.ts";
import type { SnapshotRecord, SnapshotRecords } from "../../src/activities/backup/record.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { CronJob, Job, PersistentVolumeClaim, refTo, StatefulSet, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createJobRunner, memoryRecords } from "../support/backup-lab.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

let kube: KubeClient;
let runner: ReturnType<typeof createJobRunner>;
let records: SnapshotRecords;
let run: ShootRun;
let flow: string;
let count = 0;

const good = { hash: 4219493817, revision: 405, totalKey: 267, totalSize: 614400, version: "3.6.0" };

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  runner = createJobRunner(kube);
  await applyGarden(kube);
});
beforeEach(async () => {
  const created = await createShoot(kube, `backup-${(count += 1)}`);
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  run = { ...created, operation: "Migrate", epoch: 1, migration };
  records = memoryRecords();
  flow = "flow-1";
  await kube.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "BackupEntry",
    metadata: { name: `${run.technicalID}--${run.uid}` },
    spec: { type: "local", region: "local", bucketName: "bucket-1", secretRef: { name: "b", namespace: "garden" } },
  } as never);
});

const nameOf = ([target]: readonly WaitTarget[]) => target?.name ?? "";
const backup = () =>
  createBackup({ gardenClient: kube, seedClient: runner.client, records, waits: notedWaits, flow: () => flow });
const restoring = (change: Partial<ShootRun> = {}): ShootRun => ({ ...run, operation: "Restore", epoch: 2, ...change });
const job = (name: string) => refTo(Job, { namespace: run.technicalID, name });
const claim = () => refTo(PersistentVolumeClaim, { namespace: run.technicalID, name: "main-etcd-etcd-main-0" });

describe("a snapshot", () => {
  test("is recorded as its pod has read it, and its Job says so", async () => {
    const [target] = await backup().takeSnapshot(run, "firstSnapshot");
    expect(target).toMatchObject({ kind: "Job", until: "completed" });
    const name = await runner.succeed(run.technicalID, target?.name ?? "", good);
    await backup().keepSnapshot(run);
    const record = {
      name,
      revision: 405,
      hash: 4219493817,
      size: 614400,
      takenAt: "2026-01-01T10:00:00Z",
      bucket: "bucket-1",
    };
    expect(await records.latest(run)).toEqual(record);
    expect(await kube.read(job(target?.name ?? ""))).toMatchObject({
      metadata: { annotations: { "perennial.dev/snapshot-record": JSON.stringify(record) } },
    });
  });

  test("is not taken a second time by a flow that begins its step again, but anew by another flow", async () => {
    const first = nameOf(await backup().takeSnapshot(run, "firstSnapshot"));
    const made = await kube.read(job(first));
    expect(nameOf(await backup().takeSnapshot(run, "firstSnapshot"))).toBe(first);
    expect(await kube.read(job(first))).toMatchObject({ metadata: { uid: made?.metadata.uid } });
    await runner.succeed(run.technicalID, first, good);
    flow = "flow-2";
    expect(nameOf(await backup().takeSnapshot(run, "firstSnapshot"))).not.toBe(first);
    expect(await kube.read(job(first))).toBeUndefined();
  });

  test("that failed is taken again", async () => {
    const [target] = await backup().takeSnapshot(run, "firstSnapshot");
    const ref = job(target?.name ?? "");
    const { uid } = (await kube.read(ref))?.metadata ?? {};
    await runner.fail(run.technicalID, ref.name);
    await backup().takeSnapshot(run, "firstSnapshot");
    expect((await kube.read(ref))?.metadata.uid).not.toBe(uid);
  });

  test.each([
    ["nobody can read any more", undefined],
    ["holds nothing", { ...good, revision: 0 }],
  ])("that %s is taken again", async (_, log) => {
    const [target] = await backup().takeSnapshot(run, "firstSnapshot");
    await runner.succeed(run.technicalID, target?.name ?? "", log);
    await expect(backup().keepSnapshot(run)).rejects.toThrow("cannot verify the snapshot");
    expect(await kube.read(job(target?.name ?? ""))).toBeUndefined();
    expect(await records.latest(run)).toBeUndefined();
  });

  test("is not kept before it is finished", async () => {
    await backup().takeSnapshot(run, "firstSnapshot");
    await expect(backup().keepSnapshot(run)).rejects.toThrow("has not finished");
  });

  test("of a moving Shoot is the last one: the schedule ends before it, and another flow finds it again", async () => {
    await kube.apply({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "etcd-backup", namespace: run.technicalID },
      spec: { schedule: "* * * * *", jobTemplate: { spec: { template: podTemplate } } },
    } as never);
    await kube.apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: {
        name: "etcd-backup-1",
        namespace: run.technicalID,
        labels: { "perennial.dev/snapshot": "scheduled" },
      },
      spec: { template: podTemplate },
    } as never);
    const final = "final-snapshot-2";
    const taken = await backup().takeSnapshot(restoring(), "finalSnapshot");
    expect(await kube.read(CronJob, { namespace: run.technicalID, name: "etcd-backup" })).toMatchObject({
      spec: { suspend: true },
    });
    expect(await kube.read(job("etcd-backup-1"))).toBeUndefined();
    const name = await runner.succeed(run.technicalID, final, good);
    await backup().keepSnapshot(restoring());
    flow = "flow-2";
    expect(await backup().takeSnapshot(restoring(), "finalSnapshot")).toEqual(taken);
    records = memoryRecords();
    await backup().keepSnapshot(restoring());
    expect(await records.latest(run)).toMatchObject({ name });
  });

  test("of a hibernated Shoot wakes its etcd for as long as it takes", async () => {
    const etcd = refTo(StatefulSet, { namespace: run.technicalID, name: "etcd-main" });
    const selector = { matchLabels: { app: "etcd" } };
    const template = { metadata: { labels: { app: "etcd" } }, spec: podTemplate.spec };
    await kube.apply({
      ...{ apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "etcd-main", namespace: run.technicalID } },
      spec: { replicas: 0, serviceName: "etcd", selector, template: { ...template, spec: runningForever } },
    } as never);
    const hibernated = { ...run, hibernated: true };
    const [target] = await backup().takeSnapshot(hibernated, "firstSnapshot");
    expect(await kube.read(etcd)).toMatchObject({ spec: { replicas: 1 } });
    await runner.succeed(run.technicalID, target?.name ?? "", good);
    await backup().keepSnapshot(hibernated);
    expect(await kube.read(etcd)).toMatchObject({ spec: { replicas: 0 } });
  });
});

describe("etcd's volume", () => {
  const recorded = async (name: string) => {
    const snapshot = { name, revision: 405, hash: 4219493817, size: 614400, takenAt: "2026-01-01T10:00:00Z" };
    await records.record(run, { ...snapshot, bucket: "bucket-1" });
  };
  const restored = async (of: ShootRun) => {
    await backup().restoreEtcdVolume(of, "etcdVolume");
    await runner.succeed(run.technicalID, "restore-etcd-main", good);
    await backup().finishEtcdVolume(of);
  };

  test("is made from the last snapshot, and made only once", async () => {
    await recorded("final-snapshot-2-abcde.db");
    const [target] = await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    expect(target).toMatchObject({ name: "restore-etcd-main", until: "completed" });
    const made = await kube.read(job("restore-etcd-main"));
    expect(JSON.stringify(made)).toContain("/backup/final-snapshot-2-abcde.db");
    expect(JSON.stringify(made)).not.toContain("bump-revision");
    expect(await kube.read(claim())).toMatchObject({ metadata: { labels: { app: "etcd-statefulset", role: "main" } } });
    await runner.succeed(run.technicalID, "restore-etcd-main", good);
    await backup().finishEtcdVolume(restoring());
    await backup().finishEtcdVolume(restoring());
    expect(await kube.read(job("restore-etcd-main"))).toBeUndefined();
    expect(await backup().restoreEtcdVolume(restoring(), "etcdVolume")).toEqual([]);
  });

  test("is there before there is a snapshot to make it from, and filled only then", async () => {
    await backup().createEtcdVolume(restoring());
    const { uid } = (await kube.read(claim()))?.metadata ?? {};
    expect(uid).toBeDefined();
    await expect(backup().finishEtcdVolume(restoring())).rejects.toThrow("no snapshot");
    await recorded("final-snapshot-2-abcde.db");
    await restored(restoring());
    await backup().createEtcdVolume(restoring());
    const made = (await kube.read(claim()))?.metadata;
    expect(made).toMatchObject({ uid, annotations: { [RESTORED_ANNOTATION]: "2" } });
  });

  test("is made anew when it was asked for under an earlier epoch", async () => {
    await backup().createEtcdVolume(restoring());
    await recorded("final-snapshot-3-abcde.db");
    await expect(backup().restoreEtcdVolume(restoring({ epoch: 3 }), "etcdVolume")).rejects.toThrow("is made anew");
  });

  test("is never made from a snapshot that is not the last one", async () => {
    await expect(backup().restoreEtcdVolume(restoring(), "etcdVolume")).rejects.toThrow("no snapshot");
    await recorded("etcd-backup-1-abcde.db");
    await expect(backup().restoreEtcdVolume(restoring(), "etcdVolume")).rejects.toThrow("is not recorded");
    expect(await kube.read(claim())).toBeUndefined();
  });

  test("is made from any snapshot after a takeover, beyond the revisions that were lost", async () => {
    await recorded("etcd-backup-1-abcde.db");
    const takeover = restoring({ migration: { source: "seed-1", destination: "seed-2", takeover: true } });
    await backup().restoreEtcdVolume(takeover, "etcdVolume");
    const text = JSON.stringify(await kube.read(job("restore-etcd-main")));
    expect(text).toContain("--bump-revision=1000000000");
    expect(text).toContain("--mark-compacted=true");
  });

  test("whose Job failed is thrown away, and a new one made", async () => {
    await recorded("final-snapshot-2-abcde.db");
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    const { uid } = (await kube.read(claim()))?.metadata ?? {};
    await runner.fail(run.technicalID, "restore-etcd-main");
    await expect(backup().restoreEtcdVolume(restoring(), "etcdVolume")).rejects.toThrow(
      "is made anew: its Job has failed",
    );
    await expect(backup().restoreEtcdVolume(restoring(), "etcdVolume")).rejects.toThrow("is still being deleted");
    await protectionEnds();
    await restored(restoring());
    expect((await kube.read(claim()))?.metadata.uid).not.toBe(uid);
  });

  test("is not thrown away by a worker that was paused, once it was finished", async () => {
    await recorded("final-snapshot-2-aaaaa.db");
    await backup().createEtcdVolume(restoring());
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const remove: KubeClient["remove"] = async (ref, o) => {
      if (ref.kind === "PersistentVolumeClaim") {
        reached.resolve();
        await goOn.promise;
      }
      await kube.remove(ref, o);
    };
    const earlier = memoryRecords();
    const { name, ...known } = (await records.latest(run)) ?? { name: "" };
    await earlier.record(run, { ...known, name: name.replace("aaaaa", "bbbbb") } as SnapshotRecord);
    const paused = createBackup({
      ...{ gardenClient: kube, records: earlier, waits: notedWaits, flow: () => flow },
      seedClient: { ...runner.client, remove },
    });
    const late = paused.restoreEtcdVolume(restoring(), "etcdVolume").catch(String);
    await reached.promise;
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    await runner.succeed(run.technicalID, "restore-etcd-main", good);
    await backup().finishEtcdVolume(restoring());
    goOn.resolve();
    expect(await late).toMatch(/cannot remove PersistentVolumeClaim/);
    expect((await kube.read(claim()))?.metadata).toMatchObject({ annotations: { [RESTORED_ANNOTATION]: "2" } });
    expect((await kube.read(claim()))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("is not taken for restored because a Job has filled another of that name", async () => {
    await recorded("final-snapshot-2-abcde.db");
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    await runner.succeed(run.technicalID, "restore-etcd-main", good);
    await kube.remove(claim());
    await protectionEnds();
    await expect(backup().finishEtcdVolume(restoring())).rejects.toThrow("has not been restored");
    await expect(backup().finishEtcdVolume(restoring())).rejects.toThrow("has not been restored");
    await runner.succeed(run.technicalID, "restore-etcd-main", good);
    await backup().finishEtcdVolume(restoring());
  });

  test("starts over when a takeover finds one half-made, and stays when it finds one made", async () => {
    await recorded("final-snapshot-2-abcde.db");
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    const takeover = restoring({ epoch: 3, migration: { source: "seed-1", destination: "seed-2", takeover: true } });
    await expect(backup().restoreEtcdVolume(takeover, "etcdVolume")).rejects.toThrow("is made anew");
    await protectionEnds();
    await restored(restoring());
    expect(await backup().restoreEtcdVolume(takeover, "etcdVolume")).toEqual([]);
    await expect(backup().restoreEtcdVolume(restoring({ epoch: 3 }), "etcdVolume")).rejects.toThrow("is not recorded");
  });

  test("that holds data of its own is left alone", async () => {
    await recorded("final-snapshot-2-abcde.db");
    const { apiVersion, kind, name, namespace } = claim();
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await kube.apply({ apiVersion, kind, metadata: { name, namespace }, spec } as never);
    await expect(backup().restoreEtcdVolume(restoring(), "etcdVolume")).rejects.toThrow("it holds data of its own");
    expect((await kube.read(claim()))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("is not used when it holds another snapshot than the one recorded", async () => {
    await recorded("final-snapshot-2-abcde.db");
    await backup().restoreEtcdVolume(restoring(), "etcdVolume");
    await runner.succeed(run.technicalID, "restore-etcd-main", { ...good, hash: 1 });
    await expect(backup().finishEtcdVolume(restoring())).rejects.toThrow("was recorded with revision 405");
  });

  /** What Kubernetes does when no pod uses the claim any more. */
  const protectionEnds = () => kube.patch(claim(), { metadata: { finalizers: null } });
});

test("the etcd that holds nothing is there before there is what the other is made from", async () => {
  const shootClients = createShootClients(kube, createLogger({ name: "test", level: "silent" }));
  const components = createComponents({ gardenClient: kube, seedClient: kube, shootClients, waits: notedWaits });
  const events = { kind: "StatefulSet", name: "etcd-events", until: "rolledOut" };
  expect(await components.deployEtcdEvents(run, "prepareEtcd")).toMatchObject([events]);
  const sets = await kube.list(StatefulSet, { namespace: run.technicalID });
  expect(sets.map(({ metadata }) => metadata.name)).toEqual(["etcd-events"]);
  expect(await components.deploy(run, "etcd", "etcd")).toMatchObject([{ name: "etcd-main" }, events]);
});

test("warming up runs every image of the control plane, once for each flow", async () => {
  const [target] = await backup().warmUpImages(run, "destinationImages");
  expect(await backup().warmUpImages(run, "destinationImages")).toEqual([target]);
  const text = JSON.stringify(await kube.read(job(target?.name ?? "")));
  for (const image of ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"])
    expect(text).toContain(`registry.k8s.io/${image}:`);
});

const podTemplate = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const runningForever = { containers: podTemplate.spec.containers };

import { randomBytes } from "node:crypto";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBackup } from "../../src/activities/backup/backup.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { completed } from "../../src/activities/waits/readiness.ts";
import type { SnapshotRecord } from "../../src/activities/backup/record.ts";
import type { WaitTarget } from "../../src/activities/index.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits, type Waits } from "../../src/activities/waits/waits.ts";
import { EPOCH_ANNOTATION } from "../../src/api/annotations.ts";
import { BackupEntry } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import {
  ConfigMap,
  createKubeClient,
  CronJob,
  Event,
  PersistentVolume,
  Pod,
  type KubeClient,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { newStateKey } from "../support/state-keys.ts";
import { memoryRecords } from "../support/backup-lab.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { shootRun } from "../support/shoot-run.ts";
import { notedGroup } from "../support/noted-waits.ts";

let local: LocalEnvironment;
let shoot: TestShoot;
let cluster: KubeClient;
let backup: ReturnType<typeof createBackup>;
let run: ShootRun;
const records = memoryRecords();

beforeAll(async () => {
  local = await localEnvironment();
  shoot = await createShoot(local, { name: "backup", workerless: true });
  await shoot.settles("Succeeded", "Create");
  const { gardenClient, seedClient, log } = local;
  const real = createWaits({
    client: seedClient,
    completer: { complete: async () => true, fail: async () => true },
    signer: createSigner([newStateKey("seed-1")]),
    log,
  });
  const waits: Waits = { ...real, group: notedGroup };
  const migration = { source: "seed-1", destination: "seed-1", takeover: true };
  const { technicalID, ref } = shoot;
  run = shootRun({ ...ref, technicalID, workerless: true, operation: "Migrate", epoch: 1, migration });
  backup = createBackup({ gardenClient, seedClient: fenced(seedClient, run), records, waits, flow: () => "e2e" });
  const kubeconfig = await local.perennial("shoot", "kubeconfig", "garden-dev/backup");
  cluster = createKubeClient({ kubeconfig }, { log, fieldManager: "test" });
});
afterAll(async () => {
  await cluster?.close();
  await local?.close();
});

describe("a Shoot's etcd", () => {
  let snapshot: SnapshotRecord;
  let bumpedFrom = 0;

  test("is backed up by the Job of its schedule, into the bucket of its seed", async () => {
    snapshot = await takeSnapshot("etcd-backup-now");
    expect(snapshot.revision).toBeGreaterThan(0);
    const [entry] = await local.gardenClient.list(BackupEntry);
    expect(entry?.spec).toMatchObject({ seedName: "seed-1", bucketName: snapshot.bucket });
    expect(await readdir(directory(snapshot.bucket))).toContain(snapshot.name);
  });

  test("keeps a snapshot that a flow asks for only after it was read", async () => {
    await writeConfigMap("before");
    await finished(await backup.takeSnapshot(run, "firstSnapshot"));
    await backup.keepSnapshot(run);
    const kept = await records.latest(run);
    expect(kept?.revision).toBeGreaterThan(snapshot.revision);
    expect(await readdir(directory(snapshot.bucket))).toContain(kept?.name);
    bumpedFrom = kept?.revision ?? 0;
  });

  test("comes back from a snapshot on a new volume, and no client takes old revisions for new ones", async () => {
    await writeConfigMap("lost");
    await scale("Deployment", "kube-apiserver", 0);
    await scale("StatefulSet", "etcd-main", 0);
    const claim = inSeed("v1", "PersistentVolumeClaim", "main-etcd-etcd-main-0");
    await local.seedClient.remove(claim);
    await eventually(async () => expect(await local.seedClient.read(claim)).toBeUndefined(), 60_000);

    const begin = performance.now();
    const restoring: ShootRun = { ...run, operation: "Restore" };
    await finished(await backup.restoreEtcdVolume(restoring, "etcdVolume"));
    await backup.finishEtcdVolume(restoring);
    console.log(`etcd's volume restored in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    await scale("StatefulSet", "etcd-main", 1);
    await scale("Deployment", "kube-apiserver", 1);

    const names = await eventually(async () => {
      const found = await cluster.list(ConfigMap, { namespace: "default" });
      return found.map(({ metadata }) => metadata.name);
    }, 60_000);
    expect(names).toContain("before");
    expect(names).not.toContain("lost");
    const { metadata } = await writeConfigMap("after");
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(bumpedFrom + 1_000_000_000);
    const old = cluster.get(
      `/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=${bumpedFrom}`,
    );
    expect(await old).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  test("whose data are damaged is restored from the newest good snapshot by a flow, and the old data stay", async () => {
    await writeConfigMap("saved");
    const { name } = await takeSnapshot("etcd-backup-again");
    await writeConfigMap("too-late");
    const claim = inSeed("v1", "PersistentVolumeClaim", "main-etcd-etcd-main-0");
    const volume = await volumeOf(claim);
    await damage(join(volume, "new.etcd/member/snap/db"), { offset: 2 * 4096, length: 200 * 4096 });
    await damage(join(volume, "new.etcd/member/wal/0000000000000000-0000000000000000.wal"), {
      offset: 5000,
      length: 3000,
    });
    await local.seedClient.remove(inSeed("v1", "Pod", "etcd-main-0"), { gracePeriodSeconds: 0 });

    const begin = performance.now();
    const healthy = async () =>
      (await shoot.read())?.status?.conditions?.find(({ type }) => type === "ControlPlaneHealthy");
    await eventually(async () => expect((await healthy())?.reason).toBe("EtcdDataDamaged"), 120_000);
    expect((await healthy())?.message).toMatch(/^The data of etcd-main are damaged \(.+\)/);
    await eventually(
      async () =>
        expect((await local.seedClient.read(claim))?.metadata.annotations).toMatchObject({
          "perennial.dev/etcd-replaced": expect.stringContaining(`etcd-main was restored from ${name}`),
          "perennial.dev/etcd-directories": expect.stringMatching(/^restored-.*,new\.etcd$/),
        }),
      120_000,
    );
    const names = await eventually(async () => {
      const found = await cluster.list(ConfigMap, { namespace: "default" });
      return found.map(({ metadata }) => metadata.name);
    }, 60_000);
    console.log(`etcd's damaged data replaced in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    expect(names).toEqual(expect.arrayContaining(["before", "after", "saved"]));
    expect(names).not.toContain("too-late");
    await shoot.settles("Succeeded", "Reconcile");
    expect(await readdir(volume)).toContain("new.etcd");
    const events = await local.gardenClient.list(Event, { namespace: shoot.ref.namespace });
    expect(events.map(({ reason, note }) => `${reason}: ${note}`).join("\n")).toMatch(
      new RegExp(
        `EtcdDataReplaced: etcd-main was restored from ${name}, taken at .+ before\\), because its data were damaged`,
      ),
    );
  });

  test("leaves backups behind that go when the grace period is over", async () => {
    await shoot.remove();
    await shoot.gone();
    await eventually(async () => {
      expect(await local.gardenClient.list(BackupEntry, { namespace: "garden-dev" })).toEqual([]);
      await expect(readdir(directory(snapshot.bucket))).rejects.toThrow("ENOENT");
    }, 60_000);
  });
});

const inSeed = (apiVersion: string, kind: string, name: string): ObjectRef => ({
  apiVersion,
  kind,
  namespace: shoot.technicalID,
  name,
});

/** Has the schedule take a snapshot now, and waits until the worker has recorded it. */
async function takeSnapshot(name: string): Promise<SnapshotRecord> {
  const schedule = await local.seedClient.read(CronJob, { namespace: shoot.technicalID, name: "etcd-backup" });
  if (schedule === undefined) throw new Error("there is no schedule");
  const { metadata, spec } = schedule.spec.jobTemplate;
  const { namespace } = schedule.metadata;
  const annotations = { [EPOCH_ANNOTATION]: "1" };
  await local.seedClient.create({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { ...metadata, name, namespace, annotations },
    spec,
  });
  return await eventually(async () => {
    const job = await local.seedClient.read(inSeed("batch/v1", "Job", name));
    const record = job?.metadata.annotations?.["perennial.dev/snapshot-record"];
    if (record === undefined) throw new Error("the snapshot was not recorded");
    return JSON.parse(record) as SnapshotRecord;
  }, 60_000);
}

/** The folder on this machine that is etcd-main's volume. */
async function volumeOf(claim: ObjectRef): Promise<string> {
  const { volumeName = "" } = (await local.seedClient.read(claim))?.["spec"] as { volumeName?: string };
  const volume = await local.seedClient.read(PersistentVolume, { name: volumeName });
  return volume?.spec.hostPath?.path ?? expect.fail(`volume ${volumeName} is no folder of this machine`);
}

/** Writes noise over a part of a file, in bytes. */
async function damage(path: string, { offset, length }: { readonly offset: number; readonly length: number }) {
  const file = await open(path, "r+");
  await file.write(randomBytes(length), 0, length, offset);
  await file.close();
}

const directory = (bucket: string) =>
  join(local.environment.stateDir, "buckets", bucket, `${shoot.technicalID}--${shoot.ref.uid}`);

const writeConfigMap = (name: string) =>
  cluster.create<KubeObject>({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } });

async function finished(targets: readonly WaitTarget[]): Promise<void> {
  for (const { apiVersion, kind, name } of targets)
    await eventually(async () => {
      const job = await local.seedClient.read(inSeed(apiVersion, kind, name));
      expect(job && completed(job)).toEqual({ reached: true });
    }, 60_000);
}

/** The pods of a workload carry its last word as their role. */
async function scale(kind: "Deployment" | "StatefulSet", name: string, replicas: number): Promise<void> {
  const annotations = { [EPOCH_ANNOTATION]: "1" };
  await local.seedClient.patch(inSeed("apps/v1", kind, name), { metadata: { annotations }, spec: { replicas } });
  const pods = { namespace: shoot.technicalID, labelSelector: `role=${name.replace(/^.+-/, "")}` };
  await eventually(async () => expect(await local.seedClient.list(Pod, pods)).toHaveLength(replicas), 60_000);
}

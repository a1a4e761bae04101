import { describe, expect } from "vitest";
import type { SeedActivities } from "../../src/activities/index.ts";
import { createSeedActivities } from "../../src/activities/seed.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { Seed } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { CronJob, PersistentVolumeClaim, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { newKeyring } from "../support/state-keys.ts";

const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let activities: SeedActivities;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  activities = createSeedActivities({
    gardenClient: kube,
    seedClient: kube,
    shootClients: createShootClients(kube, log),
    waits: notedWaits,
    completer: { complete: async () => true, fail: async () => true },
    keys: newKeyring(),
    log,
  });
});

/** A Shoot on a Seed with backups at this provider. */
const newShoot = async (provider: string): Promise<ShootRun> => {
  const seedName = `backed-up-at-${provider}`;
  const { spec } = (await kube.read(Seed, { name: "seed-1" })) ?? {};
  await kube.apply({ ...typeMeta(Seed), metadata: { name: seedName }, spec: { ...spec, backup: { provider } } });
  return { ...(await createShoot(kube, `at-${provider}`, { seedName })), seedName };
};
const deploy = (run: ShootRun) => activities.deployComponent(run, "etcd-backup", "etcdBackup");
const scheduleOf = ({ technicalID: namespace }: ShootRun) => kube.read(CronJob, { namespace, name: "etcd-backup" });
const reason = (run: ShootRun, missing: string) => ({
  message: `cannot reach the backups of etcd-main of ${run.technicalID}: its BackupEntry has succeeded, but ${missing}`,
  nonRetryable: false,
});

it("the step that restores etcd's volume fails while there is no place that it could restore from", async () => {
  const run = await newShoot("gcp");
  const migration = { source: "seed-1", destination: run.seedName, takeover: false };
  const restoring = { ...run, operation: "Restore", migration } as const;
  await expect(activities.restoreEtcdVolume(restoring, "etcdVolume")).rejects.toMatchObject(
    reason(run, "there is no Secret etcd-backup"),
  );
});

describe("the step that schedules snapshots", () => {
  it("fails while the provider of backups has made no claim, and succeeds once there is one", async () => {
    const run = await newShoot("local");
    await expect(deploy(run)).rejects.toMatchObject(reason(run, "there is no PersistentVolumeClaim etcd-backup"));
    expect(await scheduleOf(run)).toBeUndefined();

    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const metadata = { name: "etcd-backup", namespace: run.technicalID };
    await kube.create({ ...typeMeta(PersistentVolumeClaim), metadata, spec });
    await deploy(run);
    expect(await scheduleOf(run)).toBeDefined();
  });

  it("fails while the provider of an object store gives no credentials, or some that are of no use", async () => {
    const run = await newShoot("s3");
    await expect(deploy(run)).rejects.toMatchObject(reason(run, "there is no Secret etcd-backup"));

    const put = (stringData: Record<string, string>) =>
      kube.apply({ ...typeMeta(Secret), metadata: { name: "etcd-backup", namespace: run.technicalID }, stringData });
    await put({ bucketName: "b", accessKeyID: "a", secretAccessKey: "" });
    await expect(deploy(run)).rejects.toMatchObject(reason(run, "Secret etcd-backup lacks secretAccessKey, endpoint"));
    expect(await scheduleOf(run)).toBeUndefined();

    await put({ bucketName: "b", accessKeyID: "a", secretAccessKey: "s", endpoint: "https://s3" });
    await deploy(run);
    expect(await scheduleOf(run)).toBeDefined();
  });
});

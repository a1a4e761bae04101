import { beforeEach, describe, expect } from "vitest";
import { createSeedActivities } from "../../src/activities/seed.ts";
import type { SeedActivities } from "../../src/activities/index.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits } from "../../src/activities/waits/waits.ts";
import { EPOCH_ANNOTATION, SHOOT_UID_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, type Infrastructure } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Namespace, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";
import { infrastructureOf } from "../support/waiting-lab.ts";

const log = createLogger({ name: "test", level: "silent" });
const theirs = { fieldManager: "extension" };
let kube: KubeClient;
let activities: SeedActivities;
let run: ShootRun;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  const completer = { complete: async () => true, fail: async () => true };
  const signer = createSigner([newStateKey("seed-1")]);
  activities = createSeedActivities({
    ...{ gardenClient: kube, seedClient: kube, shootClients: createShootClients(kube, log), completer, log },
    waits: createWaits({ client: kube, completer, signer, log }),
    keys: newKeyring(),
  });
});
beforeEach(async () => void (run = await createShoot(kube, `again-${(count += 1)}`, { seedName: "seed-1" })));

describe("a Shoot of which an earlier one of the same name has left a namespace in the seed", () => {
  beforeEach(async () => {
    const annotations = { [SHOOT_UID_ANNOTATION]: "earlier", [EPOCH_ANNOTATION]: "12" };
    await kube.patch(refTo(Namespace, { name: run.technicalID }), { metadata: { annotations } });
    const metadata = { namespace: run.technicalID, name: run.name };
    const spec = { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace: run.technicalID } };
    await kube.create<Infrastructure>(
      { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Infrastructure", metadata, spec },
      theirs,
    );
    await kube.create({ apiVersion: "v1", kind: "Secret", metadata: { ...metadata, name: "ca" }, data: {} }, theirs);
  });

  it("waits, says for what, and takes over neither namespace nor authorities", async () => {
    const message = `namespace ${run.technicalID} in Seed seed-1 is that of an earlier Shoot of this name, with uid earlier`;
    for (const asked of [run, { ...run, epoch: 12 }]) {
      const attempts = [
        () => activities.deployComponent(asked, "namespace", "namespace"),
        () => activities.deploySecrets(asked),
        () => activities.syncCluster(asked),
        () => activities.persistState(asked),
        () => activities.restoreKeptSecrets(asked),
      ];
      for (const attempt of attempts)
        await expect(attempt()).rejects.toMatchObject({
          message: expect.stringContaining(message),
          nonRetryable: false,
        });
    }
    const secrets = await kube.list(Secret, { namespace: run.technicalID });
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(["ca"]);
    const namespace = await kube.read(Namespace, { name: run.technicalID });
    expect(namespace?.metadata.annotations?.[SHOOT_UID_ANNOTATION]).toBe("earlier");
  });

  it("is deleted without touching what the earlier one has left", async () => {
    const deletion: ShootRun = { ...run, operation: "Delete", epoch: 12 };
    expect(await activities.readControlPlane(deletion)).toEqual({
      ...{ namespaceUsable: false, cleanable: false, controlPlaneNeeded: false },
    });
    expect(await activities.removeExtension(deletion, "Infrastructure", "removeInfrastructure")).toEqual([]);
    expect(await activities.destroyComponent(deletion, "etcd", "destroyEtcd")).toEqual([]);
    expect(await activities.removeNamespace(deletion, "removeNamespace")).toEqual([]);
    await activities.removeState(deletion);
    const left = await kube.read(infrastructureOf(run));
    expect(left?.metadata.deletionTimestamp).toBeUndefined();
    expect((await kube.read(Namespace, { name: run.technicalID }))?.metadata.deletionTimestamp).toBeUndefined();
  });
});

it("a Shoot takes the place of the Cluster that an earlier one of the same name has left, whatever epoch that was in", async () => {
  const clusterOf = (uid: string) => ({
    shoot: { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", metadata: { name: run.name, uid } },
    cloudProfile: {},
  });
  const metadata = { name: run.technicalID, annotations: { [EPOCH_ANNOTATION]: "12" } };
  const cluster = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster", metadata };
  await kube.create({ ...cluster, spec: clusterOf("earlier") });
  await activities.syncCluster(run);
  const synced = await kube.read(Cluster, { name: run.technicalID });
  expect(synced?.spec.shoot.metadata.uid).toBe(run.uid);
  expect(synced?.metadata.annotations?.[EPOCH_ANNOTATION]).toBe("1");
});

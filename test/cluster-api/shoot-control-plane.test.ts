import { expect } from "vitest";
import { CONFIRM_DELETION_ANNOTATION } from "../../src/api/annotations.ts";
import {
  BLOCK_MOVE_ANNOTATION,
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  MachinePool,
  MANAGED_BY_ANNOTATION,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { Namespace, refOf, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { createBootstrapController } from "../../src/cluster-api/bootstrap.ts";
import { createShootProvider } from "../../src/cluster-api/shoot-provider/provider.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "../support/cluster-api-objects.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, condition, finish, join, operation, patchStatus, providerIDOf } from "../support/played-shoot.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";

/** The core manager, our providers, and a garden in one cluster; only what flows write to Shoots' status is played. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  await applyCrds(cluster.client);
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const own = await startClusterApi(cluster, {
    controllers: [createShootProvider, createBootstrapController],
    webhooks: [],
  });
  onCleanup(() => own.stop());
  return own;
});

test("a Cluster without infrastructure gets a Shoot, its endpoint before it is initialized, and a Node in its pool", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "first" };
  await apply(cluster, "first", ["pool"]);
  const shoot = await eventually(() => readPresent(cluster, Shoot, key));
  expect(shoot.spec).toMatchObject({
    kubernetes: { version: "1.34.4" },
    provider: { workers: [{ name: "pool", minimum: 1, maximum: 1 }] },
  });
  expect((await readPresent(cluster, ShootControlPlane, key)).status?.initialization).toBeUndefined();

  await advertise(client, key, client.server);
  const { hostname, port } = new URL(client.server);
  const endpoint = await eventually(() =>
    readPresent(cluster, ClusterEndpoint, { namespace, name: "first-control-plane" }),
  );
  const controlPlane = await eventually(async () => {
    const found = await readPresent(cluster, ShootControlPlane, key);
    return found.spec.controlPlaneEndpoint !== undefined && found;
  });
  expect(endpoint.spec).toMatchObject({ cluster: "first", host: hostname, port: Number(port) });
  expect(endpoint.metadata.ownerReferences).toMatchObject([
    { kind: "ShootControlPlane", uid: controlPlane.metadata.uid, controller: true },
  ]);
  expect(
    controlPlane.status?.initialization?.controlPlaneInitialized,
    "before the API server has answered",
  ).toBeUndefined();
  expect((await readPresent(cluster, Cluster, key)).spec.controlPlaneEndpoint?.host ?? "").toBe("");

  await finish(cluster, key);
  await join(client, "machine-1", "pool");
  await eventually(async () => {
    const { spec, status } = await readPresent(cluster, Cluster, key);
    expect(spec.controlPlaneEndpoint).toEqual({ host: hostname, port: Number(port) });
    expect(statusOf(status, "ControlPlaneInitialized")).toBe("True");
    expect(statusOf(status, "ControlPlaneAvailable")).toBe("True");
  }, 60_000);
  const { status } = await readPresent(cluster, ShootControlPlane, key);
  expect(status).toMatchObject({
    externalManagedControlPlane: true,
    versions: [{ version: "v1.34.4" }],
    shoot: { namespace, name: "first" },
  });
  const secret = await readPresent(cluster, Secret, { namespace, name: clusterKubeconfigName("first") });
  expect(Buffer.from(secret.data?.["value"] ?? "", "base64").toString()).toBe(cluster.tokenKubeconfig);
  await eventually(async () => {
    const pool = await readPresent(cluster, MachinePool, { namespace, name: "pool" });
    expect(pool.status?.nodeRefs).toMatchObject([{ name: "machine-1" }]);
    expect(pool.spec.providerIDList).toEqual([providerIDOf("machine-1")]);
  }, 60_000);
});

test("replicas of a MachinePool become the row's, and a second pool another row", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const key = { namespace, name: "scaled" };
  await apply(cluster, "scaled", ["one"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await cluster.client.patch(refTo(MachinePool, { namespace, name: "one" }), { spec: { replicas: 3 } });
  await applyPool(cluster, "scaled", "two");
  await eventually(async () =>
    expect(await rowsOf(cluster, key)).toEqual([
      ["one", 3],
      ["two", 1],
    ]),
  );
  // The Shoot was made with this row: its creator must not keep it.
  await cluster.client.remove(refTo(MachinePool, { namespace, name: "one" }));
  await eventually(async () => expect(await rowsOf(cluster, key)).toEqual([["two", 1]]));
});

test("what a user removes from a template or a pool goes from the Shoot", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "trimmed" };
  const { spec } = controlPlaneOf("trimmed").spec.shootTemplate ?? {};
  const asleep = { metadata: { labels: { team: "a" } }, spec: { ...spec, hibernation: { enabled: true } } };
  await client.create({ ...controlPlaneOf("trimmed"), spec: { version: "v1.34.4", shootTemplate: asleep } });
  await client.create(clusterOf("trimmed"));
  const { machinePool, infrastructure } = poolOf("trimmed", "trim", { version: "v1.34.3" });
  await client.create({ ...infrastructure, spec: { ...infrastructure.spec, labels: { tier: "a" } } });
  await client.create(machinePool);
  const row = async () => (await readPresent(cluster, Shoot, key)).spec.provider.workers?.[0];
  await eventually(async () =>
    expect(await row()).toMatchObject({ kubernetes: { version: "1.34.3" }, labels: { tier: "a" } }),
  );
  await client.patch(refTo(ShootControlPlane, key), {
    spec: { shootTemplate: { metadata: { labels: null }, spec: { hibernation: null } } },
  });
  await client.patch(refTo(ShootMachinePool, { namespace, name: "trim" }), { spec: { labels: null } });
  const template = { spec: { version: "v1.34.4" } };
  await client.patch(refTo(MachinePool, { namespace, name: "trim" }), { spec: { template } });
  await eventually(async () => {
    expect(await row()).not.toHaveProperty("kubernetes");
    expect(await row()).not.toHaveProperty("labels");
    const shoot = await readPresent(cluster, Shoot, key);
    expect(shoot.spec.hibernation?.enabled ?? false).toBe(false);
    expect(shoot.metadata.labels).not.toHaveProperty("team");
  });
});

test("a Shoot that moves is not written, and says what is wanted once it has arrived", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "moving" };
  await apply(cluster, "moving", ["mover"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await client.patch(refTo(Shoot, key), { spec: { seedName: "seed-2" } });
  await patchStatus(client, key, { seedName: "seed-1", lastOperation: operation("Migrate", "Processing", 10) });
  await client.patch(refTo(MachinePool, { namespace, name: "mover" }), { spec: { replicas: 2 } });
  await eventually(async () =>
    expect(await syncedOf(cluster, key)).toMatchObject({ status: "False", reason: "ShootMoving" }),
  );
  expect(await rowsOf(cluster, key)).toEqual([["mover", 1]]);
  await patchStatus(client, key, { seedName: "seed-2", lastOperation: operation("Restore", "Succeeded", 100) });
  await eventually(async () => expect(await rowsOf(cluster, key)).toEqual([["mover", 2]]));
  expect((await readPresent(cluster, Shoot, key)).spec.seedName, "the migration's Seed stays").toBe("seed-2");
});

test("a Shoot of a user's own is taken by its name in shootRef only, and stays when its Cluster goes", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { spec } = controlPlaneOf("legacy").spec.shootTemplate ?? {};
  const workers = [{ name: "own", minimum: 1, maximum: 1, machine: { type: "local" } }];
  for (const name of ["legacy", "kept"])
    await client.create({
      ...typeMeta(Shoot),
      metadata: { namespace, name },
      spec: { ...spec, region: "local", kubernetes: { version: "1.34.4" }, provider: { type: "local", workers } },
    });
  await apply(cluster, "kept", ["kept-pool"]);
  await eventually(async () =>
    expect(await syncedOf(cluster, { namespace, name: "kept" })).toMatchObject({
      status: "False",
      reason: "ShootTaken",
    }),
  );
  expect(await rowsOf(cluster, { namespace, name: "kept" })).toEqual([["own", 1]]);

  const adopter = { ...controlPlaneOf("adopter"), spec: { version: "v1.34.4", shootRef: { name: "legacy" } } };
  await client.create(adopter);
  await client.create(clusterOf("adopter"));
  await applyPool(cluster, "adopter", "more");
  await eventually(async () =>
    expect(await rowsOf(cluster, { namespace, name: "legacy" })).toEqual([
      ["own", 1],
      ["more", 1],
    ]),
  );
  await client.remove(refTo(Cluster, { namespace, name: "adopter" }));
  await eventually(
    async () => expect(await client.read(Cluster, { namespace, name: "adopter" })).toBeUndefined(),
    60_000,
  );
  const left = await readPresent(cluster, Shoot, { namespace, name: "legacy" });
  expect(left.metadata.deletionTimestamp).toBeUndefined();
  expect(left.spec.provider.workers?.map(({ name }) => name)).toEqual(["own", "more"]);
  expect(Object.keys(left.metadata.labels ?? {})).toEqual([]);
});

test("nothing is written for a paused Cluster but that it is paused", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "paused" };
  await client.create(controlPlaneOf("paused"));
  await client.create(clusterOf("paused", { paused: true }));
  await client.patch(refTo(ShootControlPlane, key), {
    metadata: { labels: { "cluster.x-k8s.io/cluster-name": "paused" } },
  });
  await isPaused(cluster, ShootControlPlane, key);
  expect((await readPresent(cluster, ShootControlPlane, key)).metadata.finalizers).toBeUndefined();
  expect(await client.read(Shoot, key)).toBeUndefined();
});

test("nothing is written for a Cluster that is paused while it serves, whatever is changed, until it goes on", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const [key, pool] = [
    { namespace, name: "halted" },
    { namespace, name: "halted-pool" },
  ];
  await apply(cluster, "halted", ["halted-pool"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await advertise(client, key, client.server);
  await finish(cluster, key);
  await eventually(async () => {
    expect(await availableOf(cluster, key)).toMatchObject({ status: "True" });
    expect(await syncedOf(cluster, key)).toMatchObject({ status: "True" });
    await readPresent(cluster, Secret, { namespace, name: clusterKubeconfigName("halted") });
  });
  await client.patch(refTo(Cluster, key), { spec: { paused: true } });
  await isPaused(cluster, ShootControlPlane, key);
  await isPaused(cluster, ShootMachinePool, pool);

  await client.patch(refTo(MachinePool, pool), { spec: { replicas: 4 } });
  const before = [
    await client.patch(refTo(ShootMachinePool, pool), { spec: { labels: { tier: "a" } } }),
    await client.patch(refTo(ShootControlPlane, key), {
      spec: { shootTemplate: { metadata: { labels: { team: "a" } } } },
    }),
    await readPresent(cluster, Shoot, key),
    await readPresent(cluster, ClusterEndpoint, { namespace, name: "halted-control-plane" }),
    await readPresent(cluster, Secret, { namespace, name: clusterKubeconfigName("halted") }),
  ];
  await isPaused(cluster, ShootMachinePool, pool); // of the new generation, too: both changes have had their turn
  await isPaused(cluster, ShootControlPlane, key);
  const now = await Promise.all(before.map((one) => client.read(refOf(one))));
  expect(now.map(withoutPaused)).toEqual(before.map(withoutPaused));

  await client.patch(refTo(Cluster, key), { spec: { paused: null } });
  await eventually(async () => {
    const { metadata, spec } = await readPresent(cluster, Shoot, key);
    expect(metadata.labels).toMatchObject({ team: "a" });
    expect(spec.provider.workers).toMatchObject([{ minimum: 4, labels: { tier: "a" } }]);
  });
});

test("the controller writes nothing to infrastructure and pools that another system keeps", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "foreign" };
  const annotations = { [MANAGED_BY_ANNOTATION]: "another" };
  const infrastructureRef = infrastructureRefOf("foreign");
  await client.create({ ...typeMeta(ShootCluster), metadata: { ...key, annotations }, spec: { region: "local" } });
  await client.create(controlPlaneOf("foreign"));
  await client.create(clusterOf("foreign", { infrastructureRef }));
  const { machinePool, infrastructure } = poolOf("foreign", "foreign-pool");
  await client.create({ ...infrastructure, metadata: { ...infrastructure.metadata, annotations } });
  await client.create(machinePool);
  await eventually(async () =>
    expect(await syncedOf(cluster, key)).toMatchObject({ status: "False", reason: "WaitingForInfrastructure" }),
  );
  expect((await readPresent(cluster, ShootCluster, key)).status).toBeUndefined();

  await client.patch(
    refTo(ShootCluster, key),
    { status: { initialization: { provisioned: true } } },
    { subresource: "status" },
  );
  await eventually(() => readPresent(cluster, Shoot, key), 60_000);
  expect((await readPresent(cluster, ShootCluster, key)).status).toEqual({ initialization: { provisioned: true } });
  const pool = await readPresent(cluster, ShootMachinePool, { namespace, name: "foreign-pool" });
  expect(pool.status).toBeUndefined();
  expect(pool.metadata.finalizers).toBeUndefined();
});

test("the controller lets clusterctl move a paused Cluster as soon as its Shoot is made", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "packed" };
  await apply(cluster, "packed", ["packed-pool"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await advertise(client, key, client.server);
  const isBlocked = async () =>
    BLOCK_MOVE_ANNOTATION in ((await readPresent(cluster, ShootControlPlane, key)).metadata.annotations ?? {});
  await eventually(async () => expect(await isBlocked()).toBe(true));
  await client.patch(refTo(Cluster, key), { spec: { paused: true } });
  await eventually(async () =>
    expect(conditionOf((await readPresent(cluster, ShootControlPlane, key)).status, "Paused")).toMatchObject({
      status: "True",
    }),
  );
  expect(await isBlocked(), "while the Shoot is being made").toBe(true);
  await finish(cluster, key);
  await eventually(async () => expect(await isBlocked()).toBe(false));
});

test("a deleted Cluster has its Shoot confirmed and deleted, and goes after it", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "ending" };
  await apply(cluster, "ending", ["end"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: ["gardener"] } });
  await client.remove(refTo(Cluster, key));
  await eventually(async () => {
    const { metadata } = await readPresent(cluster, Shoot, key);
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]).toBe("true");
  }, 60_000);
  await eventually(async () =>
    expect(conditionOf((await readPresent(cluster, ShootControlPlane, key)).status, "Deleting")).toMatchObject({
      reason: "WaitingForShoot",
    }),
  );
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
  await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
  expect(await client.read(ShootMachinePool, { namespace, name: "end" })).toBeUndefined();
});

test("a control plane whose Shoot is sick is not available, and says why", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const key = { namespace, name: "sick" };
  await apply(cluster, "sick", ["sick-pool"]);
  await eventually(() => readPresent(cluster, Shoot, key));
  await advertise(cluster.client, key, cluster.client.server);
  await finish(cluster, key);
  await eventually(async () => expect(await availableOf(cluster, key)).toMatchObject({ status: "True" }));
  await patchStatus(cluster.client, key, {
    conditions: [condition("APIServerAvailable", "False"), condition("ControlPlaneHealthy", "True")],
  });
  await eventually(async () =>
    expect(await availableOf(cluster, key)).toMatchObject({
      status: "False",
      message: "APIServerAvailable: it is False",
    }),
  );
});

type Named = { readonly namespace: string; readonly name: string };

async function apply({ client }: ControlPlane, name: string, pools: readonly string[]): Promise<void> {
  await client.create(controlPlaneOf(name));
  await client.create(clusterOf(name));
  for (const pool of pools) await applyPool({ client }, name, pool);
}

async function applyPool({ client }: Pick<ControlPlane, "client">, cluster: string, name: string): Promise<void> {
  const { machinePool, infrastructure } = poolOf(cluster, name);
  await client.create(infrastructure);
  await client.create(machinePool);
}

/** Waits until an object of ours says that it is paused, as it is now. */
const isPaused = async (
  cluster: ControlPlane,
  kind: typeof ShootControlPlane | typeof ShootMachinePool,
  key: Named,
): Promise<void> =>
  await eventually(async () => {
    const { metadata, status } = await readPresent<ShootControlPlane | ShootMachinePool>(cluster, kind, key);
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Paused", status: "True", observedGeneration: metadata.generation }),
    );
  });

/** An object but for its condition Paused; and where it has one, for the generation that it says it has seen, its version and the owners of its fields, which change with that. */
function withoutPaused(object: (KubeObject & { readonly status?: object | undefined }) | undefined): unknown {
  const { conditions } = (object?.status ?? {}) as ShootControlPlane["status"] & object;
  const others = conditions?.filter(({ type }) => type !== "Paused");
  if (object === undefined || others?.length === conditions?.length) return object;
  const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata;
  return { ...object, metadata, status: { ...object.status, conditions: others, observedGeneration: 0 } };
}

const rowsOf = async (cluster: ControlPlane, key: Named) =>
  (await readPresent(cluster, Shoot, key)).spec.provider.workers?.map(({ name, minimum }) => [name, minimum]);

const conditionOf = (status: ShootControlPlane["status"] | Cluster["status"], type: string) =>
  status?.conditions?.find((one) => one.type === type);
const statusOf = (status: Cluster["status"], type: string) => conditionOf(status, type)?.status;
const syncedOf = async (cluster: ControlPlane, key: Named) =>
  conditionOf((await readPresent(cluster, ShootControlPlane, key)).status, "ShootSynced");
const availableOf = async (cluster: ControlPlane, key: Named) =>
  conditionOf((await readPresent(cluster, ShootControlPlane, key)).status, "Available");

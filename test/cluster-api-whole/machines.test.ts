import { expect } from "vitest";
import {
  MachinePool,
  REPLICAS_MANAGED_BY_ANNOTATION,
  ShootBootstrapConfig,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot } from "../../src/api/index.ts";
import { createBootstrapController } from "../../src/cluster-api/bootstrap.ts";
import { createShootProvider } from "../../src/cluster-api/shoot-provider/provider.ts";
import { Namespace, Node, refTo, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf, type PoolOptions } from "../support/cluster-api-objects.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish, join, providerIDOf } from "../support/played-shoot.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";
const key = { namespace, name: "machined" };

/** The core manager, our providers, and one Cluster whose Shoot's API server is the test's own. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  const { client } = cluster;
  await applyCrds(client);
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const own = await startClusterApi(cluster, {
    controllers: [createShootProvider, createBootstrapController],
    webhooks: [],
  });
  onCleanup(() => own.stop());
  await client.create(controlPlaneOf(key.name));
  await client.create(clusterOf(key.name));
  await applyPool(cluster, "kept");
  await eventually(() => readPresent(cluster, Shoot, key));
  await advertise(client, key, client.server);
  await finish(cluster, key);
  return own;
});

test("machines come and go in their pool as they are Nodes of the Shoot, and it stays provisioned", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  await applyPool(cluster, "moved", { replicas: 2 });
  await join(client, "moved-1", "moved");
  await eventually(async () => {
    const { status } = await readPresent(cluster, ShootMachinePool, poolKey("moved"));
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "False", message: "1 of 2 machines are Nodes" }),
    );
    expect(status?.initialization?.provisioned).toBeUndefined();
  }, 60_000);
  await join(client, "moved-2", "moved");
  await eventually(() => tells(cluster, "moved", ["moved-1", "moved-2"]), 60_000);
  const { status } = await readPresent(cluster, ShootMachinePool, poolKey("moved"));
  expect(status, "both contracts' words").toMatchObject({ ready: true, initialization: { provisioned: true } });

  await client.patch(refTo(MachinePool, poolKey("moved")), { spec: { replicas: 3 } });
  await eventually(async () => expect(await boundsOf(cluster, "moved")).toEqual([3, 3]));
  await join(client, "moved-3", "moved");
  await eventually(() => tells(cluster, "moved", ["moved-1", "moved-2", "moved-3"]));

  await client.remove(refTo(Node, { name: "moved-2" })); // it died, and another is to take its place
  await eventually(() => tells(cluster, "moved", ["moved-1", "moved-3"]));
  const after = await readPresent(cluster, ShootMachinePool, poolKey("moved"));
  expect(after.status).toMatchObject({ ready: true, initialization: { provisioned: true } });
  expect(after.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "False" }));
  await join(client, "moved-4", "moved");
  await eventually(() => tells(cluster, "moved", ["moved-1", "moved-3", "moved-4"]));
});

test("a pool that is removed stays until none of its machines is a Node", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  await applyPool(cluster, "leaving");
  await join(client, "leaving-1", "leaving");
  await eventually(() => tells(cluster, "leaving", ["leaving-1"]), 60_000);
  await client.remove(refTo(MachinePool, poolKey("leaving")));
  await eventually(async () => {
    expect(await boundsOf(cluster, "leaving")).toBeUndefined();
    const { status } = await readPresent(cluster, ShootMachinePool, poolKey("leaving"));
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "Deleting" }));
  }, 60_000);
  await client.remove(refTo(Node, { name: "leaving-1" }));
  await eventually(async () => expect(await client.read(ShootMachinePool, poolKey("leaving"))).toBeUndefined(), 60_000);
});

test("where an autoscaler decides, the row has its bounds, and the pool's replicas follow the Nodes", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" };
  await applyPool(cluster, "auto", { annotations, spec: { minimum: 1, maximum: 4 } });
  await eventually(async () => expect(await boundsOf(cluster, "auto")).toEqual([1, 4]));
  const replicasAre = async (count: number) =>
    expect((await readPresent(cluster, MachinePool, poolKey("auto"))).spec.replicas).toBe(count);
  for (const machine of ["auto-1", "auto-2", "auto-3"]) await join(client, machine, "auto");
  await eventually(() => replicasAre(3), 60_000);
  await client.remove(refTo(Node, { name: "auto-3" }));
  await eventually(() => replicasAre(2));
  expect(await boundsOf(cluster, "auto")).toEqual([1, 4]);
  // From then on the MachinePool's owner decides.
  await client.patch(refTo(MachinePool, poolKey("auto")), {
    metadata: { annotations: { [REPLICAS_MANAGED_BY_ANNOTATION]: null } },
  });
  await eventually(async () => expect(await boundsOf(cluster, "auto")).toEqual([2, 2]));
});

test("a pool with a ShootBootstrapConfig needs no other bootstrap data", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { machinePool, infrastructure } = poolOf(key.name, "booted");
  const configRef = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: ShootBootstrapConfig.kind, name: "booted" };
  const { template } = machinePool.spec;
  const spec = { ...template.spec, bootstrap: { configRef } };
  await client.create({ ...typeMeta(ShootBootstrapConfig), metadata: poolKey("booted"), spec: {} });
  await client.create(infrastructure);
  await client.create({ ...machinePool, spec: { ...machinePool.spec, template: { ...template, spec } } });
  await join(client, "booted-1", "booted");
  await eventually(() => tells(cluster, "booted", ["booted-1"]), 60_000);
  const { status } = await readPresent(cluster, MachinePool, poolKey("booted"));
  expect(status?.initialization?.bootstrapDataSecretCreated).toBe(true);
});

const poolKey = (name: string) => ({ namespace, name });

async function applyPool({ client }: ControlPlane, name: string, o: PoolOptions = {}): Promise<void> {
  const { machinePool, infrastructure } = poolOf(key.name, name, o);
  await client.create(infrastructure);
  await client.create(machinePool);
}

/** Fails unless these machines are what our pool, core's pool and the Cluster's row tell. */
async function tells(cluster: ControlPlane, pool: string, machines: readonly string[]): Promise<void> {
  const providerIDList = machines.map(providerIDOf);
  const { spec, status } = await readPresent(cluster, ShootMachinePool, poolKey(pool));
  expect(spec.providerIDList).toEqual(providerIDList);
  expect(status?.replicas).toBe(machines.length);
  const core = await readPresent(cluster, MachinePool, poolKey(pool));
  expect(core.spec.providerIDList).toEqual(providerIDList);
  expect(core.status?.nodeRefs?.map(({ name }) => name)).toEqual(machines);
  expect(core.status?.initialization?.infrastructureProvisioned).toBe(true);
}

/** The least and the most machines of a pool's row in the Shoot. */
async function boundsOf(cluster: ControlPlane, pool: string): Promise<readonly number[] | undefined> {
  const { workers = [] } = (await readPresent(cluster, Shoot, key)).spec.provider;
  const row = workers.find(({ name }) => name === pool);
  return row && [row.minimum, row.maximum];
}

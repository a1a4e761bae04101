import { expect } from "vitest";
import { MachinePool, ShootControlPlane, ShootMachinePool, type Condition } from "../../src/api/cluster-api/index.ts";
import { CloudProfile, Shoot, type KubeObject } from "../../src/api/index.ts";
import { Namespace, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createBootstrapController } from "../../src/cluster-api/bootstrap.ts";
import { createShootProvider } from "../../src/cluster-api/shoot-provider/provider.ts";
import { ownAdmissionTest } from "../support/admission-lab.ts";
import { startClusterApi, startCoreManager } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf, shootTemplate, type PoolOptions } from "../support/cluster-api-objects.ts";
import { clusterApiRoles } from "../support/cluster-api-rights.ts";
import { eventually } from "../support/eventually.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";

/** The core manager, a garden with Shoot admission, and our controllers with their own rights. */
const test = ownAdmissionTest
  .extend("core", { scope: "file" }, async ({ cluster, admissionLab }, { onCleanup }) => {
    const { client } = admissionLab;
    const versions = ["1.34.4", "1.34.3"].map((version) => ({ version, classification: "supported" }));
    await client.patch(refTo(CloudProfile, { name: "local" }), { spec: { kubernetes: { versions } } });
    const core = await startCoreManager(cluster);
    onCleanup(() => core.kill());
    return core;
  })
  .extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
    expect(core.output()).not.toBe("");
    for (const name of ["perennial", "garden-other"])
      await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name } });
    for (const role of await clusterApiRoles()) await cluster.client.apply(role);
    const own = await startClusterApi(cluster, {
      controllers: [createShootProvider, createBootstrapController],
      webhooks: [],
      kubeconfig: cluster.kubeconfigOf("cluster-api"),
    });
    onCleanup(() => own.stop());
    return own;
  });

test("a version without its leading v is refused, with what to write instead", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  await expect(cluster.client.create(controlPlaneOf("bare", { version: "1.34.4" }))).rejects.toThrow(
    "write a full version with a leading v, such as v1.34.4, instead of 1.34.4",
  );
});

test("a version that is not offered is said in admission's own words, and no Shoot is made", async ({
  cluster: { client },
  own,
}) => {
  expect(own).toBeDefined();
  await apply(client, "unknown", { version: "v1.99.0" });
  await eventually(async () =>
    expect(await syncedOf(client, "unknown")).toMatchObject({
      status: "False",
      reason: "Refused",
      message: expect.stringMatching(/spec\.kubernetes\.version.*1\.99\.0.*1\.34\.4/s) as string,
    }),
  );
  expect(await client.read(Shoot, keyOf("unknown"))).toBeUndefined();
});

test("a lower version is said in admission's own words, and the Shoot stays as it is", async ({
  cluster: { client },
  own,
}) => {
  expect(own).toBeDefined();
  await apply(client, "lower");
  const before = await eventually(() => settled(client, "lower"));
  await client.patch(refTo(ShootControlPlane, keyOf("lower")), { spec: { version: "v1.34.3" } });
  await eventually(async () =>
    expect(await syncedOf(client, "lower")).toMatchObject({
      status: "False",
      reason: "Refused",
      message: expect.stringContaining("1.34.3 is older than 1.34.4: Kubernetes cannot be downgraded") as string,
    }),
  );
  expect((await readPresent({ client }, Shoot, keyOf("lower"))).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  );
});

test("shootRef reaches no Shoot that is not there, another project's, or another Cluster's", async ({
  cluster: { client },
  own,
}) => {
  expect(own).toBeDefined();
  await apply(client, "holder");
  const held = await eventually(() => settled(client, "holder"));
  const { cloudProfile, kubernetes, region } = held.spec;
  const theirs = await client.create<Shoot>({
    ...typeMeta(Shoot),
    metadata: { namespace: "garden-other", name: "theirs" },
    spec: { ...{ cloudProfile, kubernetes, region }, provider: { type: "local" } },
  });
  for (const [name, target, reason] of [
    ["to-nothing", "nothing", "ShootMissing"],
    ["to-project", "theirs", "ShootMissing"],
    ["to-cluster", "holder", "ShootTaken"],
  ] as const) {
    await apply(client, name, { shootTemplate: undefined, shootRef: { name: target } });
    await eventually(async () => expect(await syncedOf(client, name), name).toMatchObject({ status: "False", reason }));
    expect((await readPresent({ client }, ShootControlPlane, keyOf(name))).status?.shoot).toBeUndefined();
  }
  for (const shoot of [held, theirs])
    expect((await readPresent({ client }, Shoot, shoot.metadata)).metadata.resourceVersion).toBe(
      shoot.metadata.resourceVersion,
    );
});

test("of two pools with one name the older has the row, and the other says whose it is", async ({
  cluster: { client },
  own,
}) => {
  expect(own).toBeDefined();
  await apply(client, "twice", {}, { spec: { name: "row" } });
  const before = await eventually(() => settled(client, "twice"));
  await applyPool(client, "twice", "twice-second", { replicas: 5, spec: { name: "row" } });
  await eventually(async () => {
    const { status } = await readPresent({ client }, ShootMachinePool, keyOf("twice-second"));
    expect(find(status?.conditions, "Ready")).toMatchObject({
      status: "False",
      reason: "NameTaken",
      message: "worker row of the Shoot is MachinePool twice: give this pool another spec.name",
    });
  });
  expect((await readPresent({ client }, Shoot, keyOf("twice"))).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  );
});

test("the last pool stays, and its Shoot with it, until another comes", async ({ cluster: { client }, own }) => {
  expect(own).toBeDefined();
  await apply(client, "last");
  const before = await eventually(() => settled(client, "last"));
  await client.remove(refTo(MachinePool, keyOf("last")));
  await eventually(async () => {
    expect(await syncedOf(client, "last")).toMatchObject({ status: "False", reason: "LastMachinePool" });
    const { status } = await readPresent({ client }, ShootMachinePool, keyOf("last"));
    expect(find(status?.conditions, "Ready")).toMatchObject({ reason: "LastMachinePool" });
  });
  expect((await readPresent({ client }, Shoot, keyOf("last"))).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  );
  await applyPool(client, "last", "next");
  await eventually(async () => {
    const { workers } = (await readPresent({ client }, Shoot, keyOf("last"))).spec.provider;
    expect(workers?.map(({ name }) => name)).toEqual(["next"]);
    expect(await client.read(MachinePool, keyOf("last"))).toBeUndefined();
  }, 60_000);
});

test("a control plane does not change between workerless and not, and one without machines takes no pool", async ({
  cluster: { client },
  own,
}) => {
  expect(own).toBeDefined();
  await client.create(controlPlaneOf("idle", { workerless: true }));
  await client.create(clusterOf("idle"));
  const before = await eventually(() => settled(client, "idle"));
  expect(before.spec.provider.workers ?? []).toEqual([]);
  await applyPool(client, "idle", "idle-pool");
  await eventually(async () =>
    expect(await syncedOf(client, "idle")).toMatchObject({ status: "False", reason: "Workerless" }),
  );
  expect((await readPresent({ client }, Shoot, keyOf("idle"))).metadata.resourceVersion).toBe(
    before.metadata.resourceVersion,
  );
  const change = client.patch(refTo(ShootControlPlane, keyOf("idle")), { spec: { workerless: false } });
  await expect(change).rejects.toThrow(/workerless.*(cannot be changed|immutable)/is);
});

const named: readonly (readonly [string, string, Partial<Shoot["spec"]>, RegExp])[] = [
  ["a Secret of the project's", "secret", { resources: [resource("Secret")] }, /Secret garden-dev\/private/],
  ["a ConfigMap of the project's", "map", { resources: [resource("ConfigMap")] }, /ConfigMap garden-dev\/private/],
  [
    "credentials of a DNS provider",
    "dns",
    { dns: { domain: "dns.example.com", providers: [{ type: "local", secretName: "private", primary: true }] } },
    /Secret garden-dev\/private/,
  ],
  ["a Seed", "seed", { seedName: "seed-2" }, /spec\.seedName.*shoots\/binding/],
];

test.for(named)(
  "a template that names %s reaches it where Clusters may, and makes no Shoot elsewhere",
  async ([, name, more, message], { cluster: { client }, own }) => {
    expect(own).toBeDefined();
    for (const kind of ["Secret", "ConfigMap"])
      await client.apply({ apiVersion: "v1", kind, metadata: { namespace, name: "private" } });
    const { spec } = shootTemplate(name);
    await apply(client, name, { shootTemplate: { spec: { ...spec, ...more } } });
    await eventually(async () =>
      expect(await syncedOf(client, name)).toMatchObject({
        status: "False",
        reason: "Refused",
        message: expect.stringMatching(message) as string,
      }),
    );
    expect(await client.read(Shoot, keyOf(name))).toBeUndefined();
    for (const object of permission) await client.apply(object);
    try {
      await eventually(async () => {
        const annotations = { "test/asked-at": new Date().toISOString() }; // the authorizer hears of roles a moment later
        await client.patch(refTo(ShootControlPlane, keyOf(name)), { metadata: { annotations } });
        expect(await syncedOf(client, name)).toMatchObject({ status: "True" });
      });
      expect((await readPresent({ client }, Shoot, keyOf(name))).spec).toMatchObject(more);
    } finally {
      for (const { apiVersion, kind, metadata } of permission)
        await client.remove({ apiVersion, kind, name: metadata.name, namespace });
    }
  },
);

function resource(kind: "Secret" | "ConfigMap") {
  return { name: "private", resourceRef: { apiVersion: "v1", kind, name: "private" } };
}

/** What lets Clusters of the project use what the tests name. */
const permission: readonly KubeObject[] = [
  {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { namespace, name: "clusters" } },
    rules: [
      { apiGroups: [""], resources: ["secrets", "configmaps"], resourceNames: ["private"], verbs: ["get"] },
      { apiGroups: ["core.gardener.cloud"], resources: ["shoots/binding"], verbs: ["update"] },
    ],
  },
  {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { namespace, name: "clusters" } },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "clusters" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "perennial.dev:clusters" }],
  },
];

const keyOf = (name: string) => ({ namespace, name });

/** A Cluster with a control plane and one pool, all of one name. */
async function apply(
  client: KubeClient,
  name: string,
  { shootTemplate: template, ...spec }: Partial<ShootControlPlane["spec"]> = {},
  pool: PoolOptions = {},
): Promise<void> {
  const controlPlane = controlPlaneOf(name, spec);
  const { shootTemplate: usual, ...rest } = controlPlane.spec;
  const chosen = spec.shootRef === undefined ? { shootTemplate: template ?? usual } : {};
  await client.create({ ...controlPlane, spec: { ...rest, ...chosen } });
  await client.create(clusterOf(name));
  await applyPool(client, name, name, pool);
}

async function applyPool(client: KubeClient, cluster: string, name: string, o: PoolOptions = {}): Promise<void> {
  const { machinePool, infrastructure } = poolOf(cluster, name, o);
  await client.create(infrastructure);
  await client.create(machinePool);
}

/** The Shoot of a control plane, once that says that it is what is wanted. */
async function settled(client: KubeClient, name: string): Promise<Shoot> {
  expect(await syncedOf(client, name)).toMatchObject({ status: "True" });
  return await readPresent({ client }, Shoot, keyOf(name));
}

const find = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((one) => one.type === type);

const syncedOf = async (client: KubeClient, name: string): Promise<Condition | undefined> =>
  find((await readPresent({ client }, ShootControlPlane, keyOf(name))).status?.conditions, "ShootSynced");

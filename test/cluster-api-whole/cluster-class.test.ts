import { readFile } from "node:fs/promises";
import { join as path } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  Cluster,
  ClusterClass,
  MachinePool,
  ShootBootstrapConfig,
  ShootControlPlane,
  ShootMachinePool,
  ShootMachinePoolTemplate,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { Namespace, refTo, typeMeta, type Kind } from "../../src/kube/index.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish, join, publish, runKubelet } from "../support/played-shoot.ts";
import { startUpgradedApiServer } from "../support/upgraded-api-server.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";
const templates = path(import.meta.dirname, "../../deploy/cluster-api/templates");

/** The core manager and all of our process, with the class of deploy/cluster-api; only what flows write to Shoots' status is played. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  const { client } = cluster;
  await applyCrds(client);
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const own = await startClusterApi(cluster);
  onCleanup(() => own.stop());
  for (const object of await readTemplate("clusterclass-shoot.yaml"))
    await client.apply({ ...gated(object), metadata: { ...object.metadata, namespace } });
  return own;
});

const key = { namespace, name: "classy" };
const gate = "perennial.dev/EndpointReady";

/** The class with a gate, which holds for each Cluster of it. */
const gated = (object: KubeObject): KubeObject =>
  object.kind === ClusterClass.kind
    ? { ...object, spec: { ...(object["spec"] as object), availabilityGates: [{ conditionType: gate }] } }
    : object;

const version = "v1.34.4";

test("a Cluster of a class without infrastructure gets a Shoot that says what its topology says", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  await eventually(() => client.create(topologyOf("classy"))); // core's cache may not know the class yet
  const shoot = await eventually(() => readPresent(cluster, Shoot, key), 60_000);
  expect(shoot.spec).toMatchObject({
    cloudProfile: { kind: "CloudProfile", name: "local" },
    credentialsBindingName: "local",
    kubernetes: { version: "1.34.4" },
    networking: { type: "local", nodes: "172.31.0.0/16" },
    provider: {
      type: "local",
      workers: [{ name: "worker", minimum: 1, maximum: 1, machine: { image: { version: "1.0.0" } } }],
    },
    region: "north",
  });
  await eventually(async () => {
    const { status } = await readPresent(cluster, Cluster, key);
    const available = status?.conditions?.find(({ type }) => type === "Available");
    expect(available?.message, "the class's gate counts").toContain(gate);
  });
  await advertise(client, key, client.server);
  await finish(cluster, key);
  await join(client, "classy-1", "worker");
  await runKubelet(client, "classy-1", version);
  await eventually(async () => {
    const { status, spec } = await readPresent(cluster, Cluster, key);
    const found = Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, one.status]));
    expect(found).toMatchObject({ TopologyReconciled: "True", InfrastructureReady: "True", Available: "True" });
    expect(spec.controlPlaneRef?.kind).toBe("ShootControlPlane");
    expect((await poolOf(cluster)).status?.nodeRefs).toMatchObject([{ name: "classy-1" }]);
  }, 60_000);
});

test("replicas and variables of the topology reach the Shoot, and so does another template of the class", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  await client.patch(refTo(Cluster, key), { spec: { topology: topologyOf("classy", { replicas: 2 }).spec.topology } });
  const rowOf = async () => (await readPresent(cluster, Shoot, key)).spec.provider.workers?.[0];
  await eventually(async () => expect(await rowOf()).toMatchObject({ minimum: 2, maximum: 2 }), 60_000);

  const [template] = await client.list(ShootMachinePoolTemplate, { namespace });
  const { metadata: before } = await readPresent(cluster, ShootControlPlane, {
    namespace,
    name: await controlPlaneName(cluster),
  });
  await client.create({
    ...typeMeta(ShootMachinePoolTemplate),
    metadata: { namespace, name: "shoot-worker-2" },
    spec: { template: { spec: { ...template?.spec.template.spec, labels: { tier: "rebased" } } } },
  });
  const clusterClass = await readPresent(cluster, ClusterClass, { namespace, name: "shoot" });
  const { workers } = clusterClass.spec as unknown as Classes;
  const [pool] = workers.machinePools;
  const templateRef = { ...pool?.infrastructure.templateRef, name: "shoot-worker-2" };
  const machinePools = [{ ...pool, infrastructure: { templateRef } }];
  await client.patch(refTo(ClusterClass, { namespace, name: "shoot" }), { spec: { workers: { machinePools } } });
  await eventually(async () => expect(await rowOf()).toMatchObject({ labels: { tier: "rebased" } }), 60_000);
  const after = await readPresent(cluster, ShootControlPlane, { namespace, name: await controlPlaneName(cluster) });
  expect(after.metadata.uid, "the control plane is the same").toBe(before.uid);
});

test("a new version of the topology reaches the control plane first, and the machines when that runs it", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const server = await startUpgradedApiServer(cluster.tokenKubeconfig, version);
  try {
    await advertise(client, key, server.url);
    await publish(client, key, server.kubeconfig);
    await client.patch(refTo(Cluster, key), { spec: { topology: { version: "v1.34.5" } } });
    await eventually(async () => {
      const { kubernetes, provider } = (await readPresent(cluster, Shoot, key)).spec;
      expect(kubernetes.version).toBe("1.34.5");
      expect(provider.workers?.[0]?.kubernetes?.version).toBe("1.34.4");
    }, 60_000);
    expect((await poolOf(cluster)).spec.template.spec.version).toBe(version);
    server.run("v1.34.5");
    await eventually(async () => {
      expect((await poolOf(cluster)).spec.template.spec.version).toBe("v1.34.5");
      expect((await readPresent(cluster, Shoot, key)).spec.provider.workers?.[0]).not.toHaveProperty("kubernetes");
    }, 60_000);
  } finally {
    await server.stop();
  }
});

test("the topology's controller and ours leave each other's fields alone: a second pass changes nothing", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  await eventually(async () => {
    const before = await generations(cluster);
    await sleep(3_000);
    expect(await generations(cluster)).toEqual(before);
  }, 60_000);
  const still = await generations(cluster);
  for (const kind of kinds)
    for (const { metadata } of await client.list(kind, { namespace }))
      await client.patch(
        { ...typeMeta(kind), namespace, name: metadata.name },
        { metadata: { annotations: { "test/touched": "yes" } } },
      );
  await sleep(5_000);
  expect(await generations(cluster)).toEqual(still);
});

interface Classes {
  readonly workers: {
    readonly machinePools: readonly { readonly infrastructure: { readonly templateRef: object } }[];
  };
}

/** A Cluster of the class, as the template of clusterctl makes it, with variables of its own. */
function topologyOf(name: string, { replicas = 1 }: { readonly replicas?: number } = {}) {
  return {
    ...{ ...typeMeta(Cluster), metadata: { namespace, name } },
    spec: {
      topology: {
        classRef: { name: "shoot" },
        version,
        variables: [
          { name: "provider", value: { region: "north" } },
          { name: "network", value: { nodes: "172.31.0.0/16" } },
        ],
        workers: { machinePools: [{ class: "worker", name: "worker", replicas }] },
      },
    },
  };
}

async function readTemplate(name: string): Promise<KubeObject[]> {
  const text = await readFile(path(templates, name), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

const controlPlaneName = async (cluster: ControlPlane): Promise<string> =>
  (await readPresent(cluster, Cluster, key)).spec.controlPlaneRef?.name ?? "";

async function poolOf({ client }: ControlPlane): Promise<MachinePool> {
  const [pool] = await client.list(MachinePool, { namespace });
  if (pool === undefined) throw new Error("there is no MachinePool");
  return pool;
}

const kinds: readonly Kind<KubeObject>[] = [
  ...[Cluster, ShootControlPlane, MachinePool, ShootMachinePool, ShootBootstrapConfig, Shoot],
];

/** The generations of all that the topology has made, and of the Shoot that comes of it. */
async function generations({ client }: ControlPlane): Promise<Record<string, number | undefined>> {
  const all = await Promise.all(kinds.map((kind) => client.list(kind, { namespace })));
  return Object.fromEntries(
    all.flatMap((objects, at) =>
      objects.map(({ metadata }) => [`${kinds[at]?.kind} ${metadata.name}`, metadata.generation]),
    ),
  );
}

import { expect } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  ShootCluster,
  ShootControlPlane,
} from "../../src/api/cluster-api/index.ts";
import { CredentialsBinding, DomainReservation, Shoot } from "../../src/api/index.ts";
import { Namespace, parseKubeconfig, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { GARDEN_CREDENTIALS_LABEL } from "../../src/api/labels.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { createShootProvider } from "../../src/cluster-api/shoot-provider/provider.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import {
  clusterOf,
  controlPlaneOf,
  infrastructureRefOf,
  poolOf,
  shootTemplate,
} from "../support/cluster-api-objects.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish } from "../support/played-shoot.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";

/** The core manager, our providers and endpoints, and a garden in one cluster; only what flows write to Shoots' status is played. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  await applyCrds(cluster.client);
  for (const name of [namespace, "garden-other"])
    await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name } });
  const controllers = [createShootProvider, createEndpointController];
  const own = await startClusterApi(cluster, { controllers, webhooks: [] });
  onCleanup(() => own.stop());
  return own;
});

test("an endpoint of the infrastructure is there before the Shoot, which then asks for its domain", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const [key, domain] = [{ namespace, name: "early" }, "early.example.com"];
  await applyWithDomain(cluster, key, domain);
  const infrastructure = await eventually(async () => {
    const found = await readPresent(cluster, ShootCluster, key);
    return found.status?.initialization?.provisioned === true && found;
  });
  const reservation = await client.read(DomainReservation, { name: domain });
  expect(reservation?.spec).toEqual({ domain, shootRef: key });
  const endpoint = await readPresent(cluster, ClusterEndpoint, { namespace, name: "early-infrastructure" });
  expect(endpoint.spec).toMatchObject({ cluster: "early", host: `api.${domain}`, port: 443 });
  expect(endpoint.metadata.ownerReferences).toMatchObject([
    { kind: "ShootCluster", uid: infrastructure.metadata.uid, controller: true },
  ]);
  await eventually(async () =>
    expect((await readPresent(cluster, Cluster, key)).spec.controlPlaneEndpoint).toEqual({
      host: `api.${domain}`,
      port: 443,
    }),
  );
  expect(await client.read(Shoot, key), "without a pool there is no Shoot yet").toBeUndefined();

  await applyPool(cluster, "early");
  const shoot = await eventually(() => readPresent(cluster, Shoot, key));
  expect(shoot.spec.dns).toEqual({ domain });
  await advertise(client, key, `https://api.${domain}`);
  await finish(cluster, key);
  await eventually(async () => {
    const { status } = await readPresent(cluster, Cluster, key);
    expect(status?.initialization).toMatchObject({ infrastructureProvisioned: true, controlPlaneInitialized: true });
  }, 60_000);
  const mine = { namespace, name: "early-control-plane" };
  expect(await client.read(ClusterEndpoint, mine), "the control plane brings none").toBeUndefined();
  expect((await readPresent(cluster, ShootControlPlane, key)).spec.controlPlaneEndpoint).toBeUndefined();
});

test("the kubeconfig of a Cluster leads to another party's endpoint, and knows the Shoot by its own name", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const [key, domain] = [{ namespace, name: "fronted" }, "fronted.example.com"];
  await applyWithDomain(cluster, key, domain);
  await applyPool(cluster, "fronted");
  await eventually(() => readPresent(cluster, Shoot, key));
  await advertise(client, key, `https://api.${domain}`);
  await finish(cluster, key);
  const secret = { namespace, name: clusterKubeconfigName("fronted") };
  await eventually(() => readPresent(cluster, Secret, secret));
  const spec = { cluster: "fronted", host: "balancer.example.com", port: 6443, type: "apiserver" } as const;
  await client.create({ ...typeMeta(ClusterEndpoint), metadata: { namespace, name: "balancer" }, spec });
  await eventually(async () => {
    const { data } = await readPresent(cluster, Secret, secret);
    const kubeconfig = parseKubeconfig(Buffer.from(data?.["value"] ?? "", "base64").toString());
    expect(kubeconfig.server).toBe("https://balancer.example.com:6443");
    expect(kubeconfig.cluster["tls-server-name"]).toBe(`api.${domain}`);
  });
});

test("a domain is one infrastructure's until its Shoot has gone, and then the next one's", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const [key, domain] = [{ namespace, name: "first" }, "one.example.com"];
  const other = { namespace: "garden-other", name: "second" };
  await applyWithDomain(cluster, key, domain);
  await applyPool(cluster, "first");
  await eventually(() => readPresent(cluster, Shoot, key));
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: ["gardener"] } });

  await applyWithDomain(cluster, other, domain);
  await eventually(async () =>
    expect(await readyOf(cluster, other)).toMatchObject({
      status: "False",
      reason: "DomainTaken",
      message: "one.example.com is reserved for Shoot garden-dev/first",
    }),
  );
  expect((await readPresent(cluster, Cluster, other)).spec.controlPlaneEndpoint?.host ?? "").toBe("");

  await client.remove(refTo(ShootCluster, key));
  await eventually(async () =>
    expect(conditionOf(await readPresent(cluster, ShootCluster, key), "Deleting")).toMatchObject({
      reason: "WaitingForControlPlane",
    }),
  );
  await client.remove(refTo(Cluster, key));
  await eventually(
    async () => expect((await readPresent(cluster, Shoot, key)).metadata.deletionTimestamp).toBeDefined(),
    60_000,
  );
  const held = await client.read(DomainReservation, { name: domain });
  expect(held?.spec.shootRef, "while there is a Shoot").toEqual(key);
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
  await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
  expect(await client.read(ShootCluster, key)).toBeUndefined();
  await eventually(async () => expect(await readyOf(cluster, other)).toMatchObject({ status: "True" }));
  const next = await client.read(DomainReservation, { name: domain });
  expect(next?.spec.shootRef).toEqual(other);
});

test("credentials beside the Shoot are copied into the garden, follow their Secret, and go with the Cluster", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "keyed" };
  const copy = { namespace, name: "cluster-api-keyed" };
  const account = { namespace, name: "account" };
  await client.create({ ...typeMeta(Secret), metadata: account, type: "Opaque", data: { user: "YQ==", key: "Yg==" } });
  const { credentialsBindingName: _, region: __, ...spec } = shootTemplate("keyed").spec;
  const credentials = { secretRef: { name: "account" }, providerType: "local" };
  const beside = { region: "local", zones: ["a", "b"], credentials };
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: beside });
  await client.create({ ...controlPlaneOf("keyed", { shootTemplate: { spec } }), metadata: key });
  await client.create({ ...clusterOf("keyed", { infrastructureRef: infrastructureRefOf("keyed") }), metadata: key });
  await applyPool(cluster, "keyed");
  await eventually(async () =>
    expect(await readyOf(cluster, key)).toMatchObject({ status: "False", reason: "CredentialsMissing" }),
  );
  expect(await client.read(Secret, copy), "without the label").toBeUndefined();
  expect(await client.read(Shoot, key)).toBeUndefined();

  const labels = { [GARDEN_CREDENTIALS_LABEL]: "true" };
  await client.patch(refTo(Secret, account), { metadata: { labels } });
  const shoot = await eventually(() => readPresent(cluster, Shoot, key), 60_000);
  expect(shoot.spec).toMatchObject({ region: "local", credentialsBindingName: copy.name });
  const binding = await readPresent(cluster, CredentialsBinding, copy);
  expect(binding).toMatchObject({
    provider: { type: "local" },
    credentialsRef: { apiVersion: "v1", kind: "Secret", ...copy },
  });
  expect((await readPresent(cluster, Secret, copy)).data).toEqual({ user: "YQ==", key: "Yg==" });
  const { status } = await eventually(async () => {
    const found = await readPresent(cluster, Cluster, key);
    return found.status?.initialization?.infrastructureProvisioned === true && found;
  });
  expect(status).toMatchObject({ failureDomains: [{ name: "a" }, { name: "b" }] });

  await client.patch(refTo(Secret, account), { data: { user: null, key: "Yw==" } });
  await eventually(async () => expect((await readPresent(cluster, Secret, copy)).data).toEqual({ key: "Yw==" }));
  await client.patch(refTo(Secret, copy), { data: { key: "ZA==", more: "ZQ==" } });
  await eventually(async () => expect((await readPresent(cluster, Secret, copy)).data).toEqual({ key: "Yw==" }));
  await client.patch(refTo(ShootCluster, key), { spec: { zones: null } });
  await eventually(async () =>
    expect((await readPresent(cluster, ShootCluster, key)).status?.failureDomains).toEqual([]),
  );

  await client.remove(refTo(Cluster, key));
  await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
  expect(await client.read(CredentialsBinding, copy)).toBeUndefined();
  expect(await client.read(Secret, copy)).toBeUndefined();
  expect(await client.read(Secret, account), "the user's own").toBeDefined();
});

test("an infrastructure whose selector takes no Seed says so, and its Shoot waits", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "seedless" };
  const matchLabels = { tier: "none-has-it" };
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: { seedSelector: { matchLabels } } });
  await client.create({ ...controlPlaneOf("seedless"), metadata: key });
  await client.create({
    ...clusterOf("seedless", { infrastructureRef: infrastructureRefOf("seedless") }),
    metadata: key,
  });
  await applyPool(cluster, "seedless");
  await eventually(async () =>
    expect(await readyOf(cluster, key)).toMatchObject({
      status: "False",
      reason: "NoSeed",
      message: "spec.seedSelector takes none of the garden's 0 Seeds",
    }),
  );
  expect(await client.read(Shoot, key)).toBeUndefined();
  await client.patch(refTo(ShootCluster, key), { spec: { seedSelector: null } });
  await eventually(() => readPresent(cluster, Shoot, key), 60_000);
});

test("a Cluster with infrastructure beside its Shoot has the control plane's endpoint, which the infrastructure neither brings nor waits for", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "beside" };
  const { region, ...spec } = shootTemplate("beside").spec;
  await client.create({ ...controlPlaneOf("beside", { shootTemplate: { spec } }), metadata: key });
  await client.create({ ...clusterOf("beside", { infrastructureRef: infrastructureRefOf("beside") }), metadata: key });
  await applyPool(cluster, "beside");
  await eventually(async () =>
    expect(await syncedOf(cluster, key)).toMatchObject({ status: "False", reason: "WaitingForInfrastructure" }),
  );
  expect(await client.read(Shoot, key), "before its infrastructure").toBeUndefined();

  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: { region } });
  const shoot = await eventually(() => readPresent(cluster, Shoot, key), 60_000);
  expect(shoot.spec).toMatchObject({ region });
  const before = await readPresent(cluster, Cluster, key);
  expect(before.status?.initialization).toMatchObject({ infrastructureProvisioned: true });
  expect(before.spec.controlPlaneEndpoint?.host ?? "", "there is none yet").toBe("");

  const { hostname: host, port } = new URL(client.server);
  const endpoint = { host, port: Number(port) };
  await advertise(client, key, client.server);
  await eventually(async () =>
    expect((await readPresent(cluster, Cluster, key)).spec.controlPlaneEndpoint).toEqual(endpoint),
  );
  const endpoints = (await client.list(ClusterEndpoint, { namespace })).filter(({ spec }) => spec.cluster === "beside");
  expect(endpoints).toMatchObject([
    { metadata: { ownerReferences: [{ kind: "ShootControlPlane", name: "beside" }] }, spec: endpoint },
  ]);
  expect((await readPresent(cluster, ShootCluster, key)).spec).toEqual({ region });
});

test("a ShootCluster keeps its domain, which is a DNS name", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "fixed" };
  const made = (domain: string) => ({ ...typeMeta(ShootCluster), metadata: key, spec: { endpoint: { domain } } });
  for (const domain of ["Fixed.example.com", "https://fixed.example.com", "fixed.example.com.", "*.example.com", ""])
    await expect(client.create(made(domain))).rejects.toThrow("spec.endpoint.domain");
  for (const domain of ["com", "fixed.123"])
    await expect(client.create(made(domain))).rejects.toThrow(/spec.endpoint.domain.*such as one.example.com/);
  await client.create(made("fixed.example.com"));
  const changed = client.patch(refTo(ShootCluster, key), { spec: { endpoint: { domain: "other.example.com" } } });
  await expect(changed).rejects.toThrow("spec.endpoint: Invalid value");
  await expect(client.patch(refTo(ShootCluster, key), { spec: { endpoint: null } })).rejects.toThrow(
    "cannot be changed",
  );
});

interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** A Cluster of which the infrastructure brings the endpoint. */
async function applyWithDomain({ client }: ControlPlane, key: Key, domain: string): Promise<void> {
  const { dns: _, ...spec } = shootTemplate(key.name).spec;
  const controlPlane = controlPlaneOf(key.name, { shootTemplate: { spec }, endpointFrom: "Infrastructure" });
  const infrastructureRef = infrastructureRefOf(key.name);
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: { endpoint: { domain } } });
  await client.create({ ...controlPlane, metadata: key });
  await client.create({ ...clusterOf(key.name, { infrastructureRef }), metadata: key });
}

async function applyPool({ client }: ControlPlane, cluster: string): Promise<void> {
  const { machinePool, infrastructure } = poolOf(cluster, `${cluster}-pool`);
  await client.create(infrastructure);
  await client.create(machinePool);
}

const conditionOf = ({ status }: ShootCluster, type: string) => status?.conditions?.find((one) => one.type === type);
const readyOf = async (cluster: ControlPlane, key: Key) =>
  conditionOf(await readPresent(cluster, ShootCluster, key), "Ready");
const syncedOf = async (cluster: ControlPlane, key: Key) =>
  (await readPresent(cluster, ShootControlPlane, key)).status?.conditions?.find(({ type }) => type === "ShootSynced");

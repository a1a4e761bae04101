import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect } from "vitest";
import {
  ControlPlane,
  DNSRecord,
  ManagedResource,
  Network,
  OperatingSystemConfig,
  SelfHostedShootExposure,
  type KubeObject,
} from "../../src/api/index.ts";
import { ConfigMap, refTo, Secret, type Kind, type KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { createLogger } from "../../src/log.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import type { Provider } from "../../src/provider-local/provider.ts";
import { createSelfHostedProvider } from "../../src/provider-local/self-hosted/provider.ts";
import { findBinary } from "../support/binary.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startNameServer } from "../support/name-server.ts";
import { renderProviderChart } from "../support/provider-chart.ts";
import { clientOfAccount } from "../support/service-account.ts";

/** The provider of a self-hosted cluster, with the account and the rights that its chart gives it. */
const namespace = "extension-provider-local";
const extensions = "extensions.gardener.cloud/v1alpha1";
const system = { namespace: "kube-system", name: "root" };
const values = { image: "provider-local:1", hostNetwork: true, usablePorts: [10_300, 10_301] };
let admin: KubeClient;
let own: KubeClient;
let provider: Provider;

test.beforeAll(async ({ cluster }) => {
  admin = cluster.client;
  for (const object of await readManifest("seed/crds/resources.gardener.cloud_managedresources.yaml"))
    await admin.apply(object);
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const shoot = { metadata: { name: "root", namespace: "garden" } };
  await admin.apply({
    apiVersion: extensions,
    kind: "Cluster",
    metadata: { name: system.namespace },
    spec: { cloudProfile: {}, shoot },
  });
  await applyStrictly(cluster.kubeconfigFile, await render());
  own = await clientOfAccount(cluster, { namespace, name: "provider-local" });
  const image = { name: values.image, content: "1" };
  provider = createSelfHostedProvider({ client: own, image, log: createLogger({ name: "test", level: "silent" }) });
  await provider.start();
});

afterAll(async () => {
  await provider.stop();
  await own.close();
});

test("before there is a pod network it runs in its node's, at a port that is free, whatever taints the node has", async () => {
  expect(await podOf(await render())).toMatchObject({
    hostNetwork: true,
    tolerations: [{ operator: "Exists" }],
    containers: [
      {
        env: expect.arrayContaining([
          { name: "KUBERNETES_SERVICE_HOST", value: "localhost" },
          { name: "PERENNIAL_HEALTH_PORT", value: "10300" },
        ]),
      },
    ],
  });
});

test("later it runs in the pod network, still on nodes of the control plane", async () => {
  const pod = await podOf(await render({ hostNetwork: false }));
  expect(pod).toMatchObject({
    hostNetwork: false,
    tolerations: [
      { key: "node-role.kubernetes.io/control-plane", operator: "Exists" },
      { key: "node.kubernetes.io/not-ready", tolerationSeconds: 30 },
      { key: "node.kubernetes.io/unreachable", tolerationSeconds: 30 },
    ],
  });
  expect(JSON.stringify(pod)).not.toContain("localhost");
  expect(JSON.stringify(pod)).toContain("nodeAffinity");
});

test("a Network becomes a ManagedResource with an agent for each node, and takes it along", async ({ cluster }) => {
  await admin.apply(object("Network", { podCIDR: "10.184.0.0/16", serviceCIDR: "10.185.0.0/16" }));
  await succeeded(Network);
  const key = { namespace: system.namespace, name: "provider-local-network" };
  const { spec } = (await admin.read(ManagedResource, key)) ?? expect.fail("no ManagedResource");
  expect(spec.class).toBeUndefined();
  const [{ name } = expect.fail("no Secret")] = spec.secretRefs;
  const manifests = Object.values((await admin.read(Secret, { ...key, name }))?.data ?? {})
    .map(fromBase64)
    .join("");
  expect(manifests).toContain("10.184.0.0/16");
  await applyStrictly(cluster.kubeconfigFile, manifests);

  await admin.patch(refTo(ManagedResource, key), { metadata: { finalizers: ["test/kept"] } });
  await admin.remove(refTo(Network, system));
  await eventually(async () => {
    expect((await admin.read(ManagedResource, key))?.metadata.deletionTimestamp).toBeDefined();
  });
  expect(await admin.read(Secret, { ...key, name }), "while objects are taken away by it").toBeDefined();
  await admin.patch(refTo(ManagedResource, key), { metadata: { finalizers: null } });
  await eventually(async () => expect(await admin.read(Network, system)).toBeUndefined());
  expect(await admin.read(Secret, { ...key, name })).toBeUndefined();
});

test("a Network with addresses of another family is refused, with what to write", async () => {
  const spec = { podCIDR: "fd00::/64", serviceCIDR: "fd01::/108", ipFamilies: ["IPv6"] };
  await admin.apply({ ...object("Network", spec), metadata: { ...object("Network", {}).metadata, name: "six" } });
  await eventually(async () => {
    const { status } = (await admin.read(Network, { ...system, name: "six" })) ?? expect.fail("gone");
    expect(status?.lastError).toMatchObject({
      description: expect.stringContaining("set spec.networking.ipFamilies to [IPv4]"),
      codes: ["ERR_CONFIGURATION_PROBLEM"],
    });
  });
});

test("a kubelet under a real systemd is left as it is, and the control plane is told its region and nothing of a host", async () => {
  await admin.apply(object("OperatingSystemConfig", { purpose: "reconcile", files: [], units: [] }));
  expect((await succeeded(OperatingSystemConfig)).status?.extensionUnits ?? []).toEqual([]);
  await admin.apply(object("ControlPlane", { region: "local", secretRef: { ...system, name: "none" } }));
  await succeeded(ControlPlane);
  const config = await admin.read(ConfigMap, { ...system, name: "cloud-provider-config" });
  expect(config?.data).toEqual({ "cloudprovider.conf": JSON.stringify({ region: "local" }) });
});

test("an exposure says where the control plane is reached", async () => {
  const endpoints = [{ nodeName: "a", addresses: [{ type: "InternalIP", address: "10.0.0.1" }] }];
  await admin.apply(object("SelfHostedShootExposure", { port: 443, endpoints }));
  expect((await succeeded(SelfHostedShootExposure)).status?.ingress).toEqual([{ ip: "10.0.0.1" }]);
});

test("a name is written at the DNS server that its Secret names", async () => {
  const names = await startNameServer();
  try {
    const { server, key, zone } = names;
    const stringData = {
      ...{ Server: `${server.address}:${server.port ?? 53}`, Zone: zone, TSIGSecret: key.secret },
      ...{ TSIGKeyName: key.name, TSIGSecretAlgorithm: key.algorithm },
    };
    const secretRef = { namespace: system.namespace, name: "dnsrecord-root-external" };
    await admin.apply({ apiVersion: "v1", kind: "Secret", metadata: secretRef, stringData });
    const name = `api.root.${zone}`;
    const values = ["10.0.0.1", "10.0.0.2"];
    await admin.apply(object("DNSRecord", { type: "rfc2136", secretRef, name, recordType: "A", values }));
    await succeeded(DNSRecord);
    expect(await queryRecords(server, { name, type: "A" })).toEqual(values);
  } finally {
    await names.stop();
  }
});

test("its account reads no other Secret of the cluster, and writes no ManagedResource but its own", async () => {
  await admin.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: system.namespace, name: "ca" },
    stringData: { key: "x" },
  });
  await expect(own.read(Secret, { ...system, name: "ca" })).rejects.toThrow("forbidden");
  await expect(own.list(Secret, { namespace: system.namespace })).rejects.toThrow("forbidden");
  await expect(own.read(ManagedResource, { ...system, name: "other" })).rejects.toThrow("forbidden");
});

const render = async (changes: object = {}) =>
  await renderProviderChart(namespace, { ...values, ...changes, gardener: { selfHostedShootCluster: true } });

const podOf = async (objects: readonly KubeObject[]): Promise<unknown> => {
  const deployment = objects.find(({ kind }) => kind === "Deployment") as
    { readonly spec: { readonly template: { readonly spec: unknown } } } | undefined;
  return deployment?.spec.template.spec;
};

const fromBase64 = (text: string): string => Buffer.from(text, "base64").toString();

const object = (kind: string, spec: object) => ({
  apiVersion: extensions,
  kind,
  metadata: { ...system, annotations: { "gardener.cloud/operation": "reconcile" } },
  spec: { type: "local", ...spec },
});

type Status = { readonly lastOperation?: { readonly state: string } | undefined } | undefined;

async function succeeded<T extends KubeObject & { readonly status?: Status }>(kind: Kind<T, "Namespaced">): Promise<T> {
  return await eventually(async () => {
    const found = (await admin.read(kind, system)) ?? expect.fail("it is gone");
    expect(found.status?.lastOperation?.state).toBe("Succeeded");
    return found;
  });
}

/** By kubectl, which refuses fields that no API server knows. */
async function applyStrictly(kubeconfig: string, objects: readonly KubeObject[] | string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-strictly-"));
  const text =
    typeof objects === "string" ? objects : JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await writeFile(join(folder, "objects"), text);
  const apply = ["--kubeconfig", kubeconfig, "apply", "--server-side", "--validate=strict", "-f"];
  try {
    await execa(await findBinary("kubectl"), [...apply, join(folder, "objects")]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

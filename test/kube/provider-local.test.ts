import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect } from "vitest";
import { LOCAL_PROVISIONER } from "../../src/api/names.ts";
import { Infrastructure, OperatingSystemConfig, type KubeObject } from "../../src/api/index.ts";
import { createExtensionController } from "../../src/extension/index.ts";
import {
  PersistentVolume,
  PersistentVolumeClaim,
  refTo,
  Secret,
  Service,
  type Kind,
  type MergePatch,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createAddressPool } from "../../src/provider-local/network/address-pool.ts";
import { createInfrastructureActuator } from "../../src/provider-local/infrastructure.ts";
import { createLoadBalancers } from "../../src/provider-local/network/load-balancer.ts";
import { adaptKubelet } from "../../src/provider-local/machine-image/kubelet.ts";
import { createOperatingSystemConfigActuator } from "../../src/provider-local/machine-image/operating-system-config.ts";
import { createVolumeProvisioner, type Runner } from "../../src/provider-local/volumes.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const extensions = "extensions.gardener.cloud/v1alpha1";
let plane: ControlPlane;
let directory: string;
let namespace: string;
let runners: Runner[];
let count = 0;

/** The addresses of the one machine: what the load balancers have told it to answer for. */
const addresses = new Set<string>();

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  directory = await mkdtemp(join(tmpdir(), "provider-local-"));
  const { client } = plane;
  const pool = createAddressPool(join(directory, "addresses"), () => ["172.30.128.1", "172.30.128.2", "172.30.128.3"]);
  const machines = {
    addAddress: async (_machine: string, address: string) => void addresses.add(address),
    removeAddress: async (_machine: string, address: string) => void addresses.delete(address),
  };
  const environment = {
    name: "test",
    stateDir: directory,
    bridge: "pn-test",
    network: "172.30.0.0/16",
    gateway: "172.30.0.1",
    domain: "perennial.test",
  };
  runners = [
    createExtensionController({
      client,
      kind: "Infrastructure",
      type: "local",
      actuator: createInfrastructureActuator(environment),
      log,
    }),
    createExtensionController({
      client,
      kind: "OperatingSystemConfig",
      type: "local",
      actuator: createOperatingSystemConfigActuator(adaptKubelet),
      log,
    }),
    createVolumeProvisioner({ client, directory: join(directory, "volumes"), log }),
    createLoadBalancers({ client, cluster: "seed-1", machine: "seed-1", machines, pool, log }),
  ];
  for (const runner of runners) runner.start();
});
afterAll(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  namespace = `shoot--dev--p${++count}`;
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const spec = { cloudProfile: {}, shoot: { metadata: { name: "p", namespace: "garden-dev" } } };
  await apply({ apiVersion: extensions, kind: "Cluster", metadata: { name: namespace }, spec });
});

describe("an Infrastructure", () => {
  test("needs the user's credentials, and takes them when they come", async () => {
    const secretRef = { name: "cloudprovider", namespace };
    await apply(requested("Infrastructure", "p", { type: "local", region: "local", secretRef }));
    await eventually(async () => {
      expect((await read(Infrastructure, "p"))?.status?.lastError).toMatchObject({
        codes: ["ERR_CONFIGURATION_PROBLEM"],
      });
    });
    await apply({ apiVersion: "v1", kind: "Secret", metadata: secretRef, stringData: { token: "x" } });
    const object = await succeeded(Infrastructure, "p");
    expect(object.status).toMatchObject({ nodesCIDR: "172.30.0.0/17", networking: { nodes: ["172.30.0.0/17"] } });
    expect(object.status?.providerStatus).toMatchObject({ kind: "InfrastructureStatus", environment: "test" });
  });
});

describe("an OperatingSystemConfig", () => {
  test("becomes user data in a Secret that goes with it", async () => {
    await apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "theirs", namespace },
      stringData: { kubeconfig: "yaml" },
    });
    const files = [
      {
        path: "/etc/a",
        permissions: 0o600,
        content: { secretRef: { name: "theirs", dataKey: "kubeconfig" } },
      },
      { path: "/etc/b", content: { inline: { encoding: "", data: "<<BOOTSTRAP_TOKEN>>" }, transmitUnencoded: true } },
    ];
    const spec = { type: "local", purpose: "provision", files };
    await apply(requested("OperatingSystemConfig", "pool-init", spec));
    const object = await succeeded(OperatingSystemConfig, "pool-init");
    const result = { name: "osc-result-pool-init", namespace };
    expect(object.status?.cloudConfig?.secretRef).toEqual(result);
    const secret = await plane.client.read(Secret, result);
    const data = secret?.["data"] as { cloud_config: string };
    expect(JSON.parse(Buffer.from(data.cloud_config, "base64").toString())).toEqual({
      files: [
        { path: "/etc/a", permissions: 0o600, content: "yaml" },
        { path: "/etc/b", content: "<<BOOTSTRAP_TOKEN>>" },
      ],
      units: [],
    });
    await plane.client.remove(ref("OperatingSystemConfig", "pool-init"));
    await eventually(async () => expect(await read(OperatingSystemConfig, "pool-init")).toBeUndefined());
    expect(await plane.client.read(Secret, result)).toBeUndefined();
  });

  test("for a running machine gets what a kubelet needs here", async () => {
    const units = [{ name: "kubelet.service", content: "[Service]\nExecStart=/opt/bin/kubelet\n" }];
    await apply(requested("OperatingSystemConfig", "pool-original", { type: "local", purpose: "reconcile", units }));
    const object = await succeeded(OperatingSystemConfig, "pool-original");
    expect(object.status?.cloudConfig).toBeUndefined();
    expect(object.status?.extensionUnits?.[0]?.content).toContain("--node-ip=${MACHINE_ADDRESS}");
  });
});

describe("a volume", () => {
  const storage = { requests: { storage: "1Gi" } };

  test("is a directory that goes with its claim", async () => {
    const claim = refTo(PersistentVolumeClaim, { name: "data", namespace });
    const annotations = { "volume.kubernetes.io/storage-provisioner": LOCAL_PROVISIONER };
    const created = await plane.client.create<KubeObject>({
      ...withoutName(claim),
      metadata: { name: "data", namespace, annotations },
      spec: { accessModes: ["ReadWriteOnce"], resources: storage, storageClassName: "default" },
    });
    const volume = refTo(PersistentVolume, { name: `pvc-${created.metadata.uid}` });
    const made = await eventually(async () => {
      const found = await plane.client.read(volume);
      if (!found) throw new Error("no volume");
      return found;
    });
    expect(made["spec"]).toMatchObject({ claimRef: { name: "data", namespace }, capacity: { storage: "1Gi" } });
    await writeFile(join(directory, "volumes", String(created.metadata.uid), "file"), "content");
    await plane.client.patch(volume, { status: { phase: "Released" } }, { subresource: "status" });
    await eventually(async () => {
      expect(await readdir(join(directory, "volumes"))).toEqual([]);
      const left = await plane.client.read(volume);
      expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
    });
  });

  test("is not made for claims of other provisioners", async () => {
    const annotations = { "volume.kubernetes.io/storage-provisioner": "somebody.else" };
    const { metadata } = await plane.client.create<KubeObject>({
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "other", namespace, annotations } },
      spec: { accessModes: ["ReadWriteOnce"], resources: storage, storageClassName: "other" },
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await plane.client.read(PersistentVolume, { name: `pvc-${metadata.uid}` })).toBeUndefined();
  });
});

describe("a load balancer", () => {
  test("has an address of its own as long as its Service wants one", async () => {
    await Promise.all([apply(service("one")), apply(service("two")), apply(service("three"))]);
    const given = await Promise.all(["one", "two", "three"].map(addressOf));
    expect(new Set(given).size).toBe(3);
    expect(addresses).toEqual(new Set(given));
    await plane.client.remove(serviceRef("one"));
    await eventually(async () => expect(await plane.client.read(serviceRef("one"))).toBeUndefined());
    expect(addresses.has(String(given[0]))).toBe(false);
    await patch(serviceRef("two"), { spec: { type: "ClusterIP" } });
    await eventually(() => expect(addresses).toEqual(new Set([given[2]])));
    await eventually(async () =>
      expect((await plane.client.read(serviceRef("two")))?.metadata.finalizers ?? []).toEqual([]),
    );
    await apply(service("four"));
    expect(given.slice(0, 2)).toContain(await addressOf("four"));
  });
});

const service = (name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace },
  spec: { type: "LoadBalancer", ports: [{ port: 443 }] },
});

const serviceRef = (name: string) => refTo(Service, { name, namespace });

async function addressOf(name: string): Promise<string> {
  return eventually(async () => {
    const found = await plane.client.read(serviceRef(name));
    const { loadBalancer } = (found?.["status"] ?? {}) as { loadBalancer?: { ingress?: { ip: string }[] } };
    const ip = loadBalancer?.ingress?.[0]?.ip;
    if (ip === undefined) throw new Error(`${name} has no address`);
    return ip;
  });
}

function requested(kind: string, name: string, spec: object) {
  const annotations = { "gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": new Date().toISOString() };
  return { apiVersion: extensions, kind, metadata: { name, namespace, annotations }, spec };
}

async function succeeded<T extends Infrastructure | OperatingSystemConfig>(
  kind: Kind<T, "Namespaced">,
  name: string,
): Promise<T> {
  return eventually(async () => {
    const object = await read(kind, name);
    if (object?.status?.lastOperation?.state !== "Succeeded")
      throw new Error(`still waiting: ${JSON.stringify(object?.status)}`);
    return object;
  });
}

function ref(kind: string, name: string): ObjectRef {
  return { apiVersion: extensions, kind, name, namespace };
}

function read<T extends KubeObject>(kind: Kind<T, "Namespaced">, name: string): Promise<T | undefined> {
  return plane.client.read(kind, { name, namespace });
}

function apply(object: KubeObject): Promise<KubeObject> {
  return plane.client.apply(object);
}

function patch(object: ObjectRef, change: MergePatch): Promise<KubeObject> {
  return plane.client.patch(object, change);
}

function withoutName({ apiVersion, kind }: ObjectRef) {
  return { apiVersion, kind };
}

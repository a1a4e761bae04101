import { readFile, rm } from "node:fs/promises";
import { afterAll, expect } from "vitest";
import { Worker, type KubeObject } from "../../src/api/index.ts";
import { openGuard } from "../../src/extension/index.ts";
import { createReflector, Node, Pod, refTo, type Reflector } from "../../src/kube/index.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { removeBridge } from "../../src/local/network/bridge.ts";
import { createLogger } from "../../src/log.ts";
import { createProvider, type Provider } from "../../src/provider-local/provider.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { hello, nodeUserData } from "../support/machine-objects.ts";
import { findRemains } from "../support/machine-remains.ts";

const env: Environment = {
  name: "test-worker",
  stateDir: "/var/lib/perennial/test-worker",
  bridge: "pn-test-worker",
  network: "172.27.0.0/16",
  gateway: "172.27.0.1",
  domain: "perennial.test",
};
const log = createLogger({ name: "provider-test", level: "silent" });
const machines = createMachines(env, log);
const namespace = "shoot--dev--worker";
const extensions = "extensions.gardener.cloud/v1alpha1";

const test = ownClusterTest({ flags: ["--bind-address=0.0.0.0", "--allow-privileged"], crds: true });

/** One control plane is the seed and, as its machines join it, the Shoot too. */
let plane: ControlPlane;
let provider: Provider;
let podRanges: Reflector<Node>;
let mostNodes = 0;

test.beforeAll(async ({ cluster }) => {
  if (process.getuid?.() !== 0) throw new Error("machines need root: run this test as root");
  await cleanUp();
  plane = cluster;
  const { client } = plane;
  podRanges = assignPodRanges();
  provider = createProvider({ client, seed: "seed-1", environment: env, machines, guard: openGuard, log });
  await provider.start();

  const kubeconfig = await kubeconfigForMachines();
  const secret = (name: string, stringData: object) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    stringData,
  });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await applyCluster({});
  await client.apply(secret("gardener-internal", { kubeconfig: plane.kubeconfig }));
  await client.apply(secret("user-data", { cloud_config: JSON.stringify(nodeUserData(kubeconfig)) }));
  const spec = { type: "local", podCIDR: "10.97.0.0/16", serviceCIDR: "10.96.0.0/16" };
  await client.apply(requested("Network", spec, "reconcile"));
});

afterAll(async () => {
  await provider?.stop();
  await podRanges?.stop();
  await cleanUp();
});

test("a pool's machines become ready nodes with a network between their pods", async () => {
  await apply({ minimum: 2 });
  const worker = await succeeded();
  expect(worker.status?.machineDeployments).toEqual([{ name: `${namespace}-pool`, minimum: 2, maximum: 3 }]);
  await eventually(async () => expect(await readyNodes()).toHaveLength(2), 60_000);
  const names = (await machines.list()).map(({ name }) => name);
  expect(worker.status?.state).toMatchObject({ machines: names.map((name) => ({ name, pool: "pool" })) });
});

test("a second trigger changes nothing", async () => {
  const before = await machines.list();
  await apply({ minimum: 2 });
  await succeeded();
  expect(await machines.list()).toEqual(before);
});

test("another machine type rolls the pool: one too many at most, pods and Nodes of old machines gone", async () => {
  const before = await readyNodes();
  const [first = ""] = before;
  await plane.client.apply(hello(first));
  mostNodes = 0;
  await apply({ minimum: 2, machineType: "bigger" });
  await succeeded(200_000);
  const after = await readyNodes();
  expect(after).toHaveLength(2);
  expect(after.filter((name) => before.includes(name))).toEqual([]);
  expect(mostNodes).toBe(3);
  expect((await machines.list()).map(({ name }) => name).sort()).toEqual(after.sort());
  expect(await plane.client.read(Pod, { namespace: "default", name: first })).toBeUndefined();
});

test("a smaller pool gives up a machine", async () => {
  await apply({ minimum: 1, machineType: "bigger" });
  await succeeded();
  expect(await readyNodes()).toHaveLength(1);
  expect(await machines.list()).toHaveLength(1);
});

test("a hibernating Shoot has no machines, and new ones when it wakes up", async () => {
  await applyCluster({ hibernation: { enabled: true } });
  await apply({ minimum: 1, machineType: "bigger" });
  await succeeded();
  expect(await machines.list()).toEqual([]);
  expect(await plane.client.list(Node)).toEqual([]);
  await applyCluster({ hibernation: { enabled: false } });
  await apply({ minimum: 1, machineType: "bigger" });
  await succeeded();
  await eventually(async () => expect(await readyNodes()).toHaveLength(1), 60_000);
});

test("a machine that went down comes back by itself", async () => {
  const [machine] = await machines.list();
  process.kill(Number.parseInt(await readFile(`${env.stateDir}/machines/${machine?.name}/pid`, "utf8")), "SIGKILL");
  await eventually(async () => expect((await machines.list())[0]?.running).toBe(false));
  await eventually(async () => expect((await machines.list())[0]?.running).toBe(true), 40_000);
});

test("migrating leaves the machines running, and restoring takes the same ones over", async () => {
  const before = await machines.list();
  await apply({ minimum: 1, machineType: "bigger" }, "migrate");
  const migrated = await succeeded();
  expect(migrated.status?.lastOperation?.type).toBe("Migrate");
  expect(migrated.metadata.finalizers ?? []).toEqual([]);
  await plane.client.remove(ref());
  await eventually(async () => (await read()) === undefined);
  expect(await machines.list()).toEqual(before);

  await apply({ minimum: 1, machineType: "bigger" }, "wait-for-state");
  await plane.client.patch(ref(), { status: { state: migrated.status?.state } }, { subresource: "status" });
  await apply({ minimum: 1, machineType: "bigger" }, "restore");
  expect((await succeeded()).status?.lastOperation?.type).toBe("Restore");
  expect(await machines.list()).toEqual(before);
});

test("deleting the Worker removes all machines and all that was made for them", async () => {
  await plane.client.remove(ref());
  await eventually(async () => (await read()) === undefined, 60_000);
  expect(await machines.list()).toEqual([]);
  await machines.removeAll();
  await removeBridge(env);
  expect(await findRemains(env)).toEqual([]);
});

async function applyCluster(spec: object): Promise<void> {
  const shoot = { metadata: { name: "worker", namespace: "garden-dev" }, spec };
  const cluster = { apiVersion: extensions, kind: "Cluster", metadata: { name: namespace } };
  await plane.client.apply({ ...cluster, spec: { cloudProfile: {}, shoot } });
}

async function apply(
  { minimum, machineType = "small" }: { minimum: number; machineType?: string },
  operation = "reconcile",
) {
  const pool = {
    ...{ name: "pool", machineType, minimum, maximum: 3, maxSurge: 1, maxUnavailable: 0 },
    userDataSecretRef: { name: "user-data", key: "cloud_config" },
  };
  const secretRef = { name: "cloudprovider", namespace };
  await plane.client.apply(
    requested("Worker", { type: "local", region: "local", secretRef, pools: [pool] }, operation),
  );
}

function requested(kind: string, spec: object, operation: string): KubeObject {
  const annotations = { "gardener.cloud/operation": operation, "gardener.cloud/timestamp": new Date().toISOString() };
  return { apiVersion: extensions, kind, metadata: { name: "worker", namespace, annotations }, spec };
}

/** As the flows decide it: the request answered for this generation, and well. */
async function succeeded(timeout = 60_000): Promise<Worker> {
  return eventually(async () => {
    const worker = await read();
    if (worker === undefined) throw new Error("there is no Worker");
    const { lastError, lastOperation, observedGeneration } = worker.status ?? {};
    if (lastError) throw new Error(lastError.description);
    const open = worker.metadata.annotations?.["gardener.cloud/operation"] !== undefined;
    if (open || observedGeneration !== worker.metadata.generation || lastOperation?.state !== "Succeeded") {
      throw new Error(`still waiting: ${JSON.stringify(worker.status)}`);
    }
    return worker;
  }, timeout);
}

const ref = () => refTo(Worker, { name: "worker", namespace });
const read = () => plane.client.read(ref());

async function readyNodes(): Promise<string[]> {
  const nodes = await plane.client.list(Node);
  const isReady = ({ status }: Node) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  return nodes.filter(isReady).map(({ metadata }) => metadata.name);
}

/** What a controller manager does for Nodes; it also counts them. */
function assignPodRanges(): Reflector<Node> {
  let next = 0;
  const { client } = plane;
  const reflector = createReflector(client, Node, {
    log,
    onEvent: async ({ type, object }) => {
      mostNodes = Math.max(mostNodes, reflector.list().length);
      if (type !== "added" || object.spec?.podCIDR !== undefined) return;
      const podCIDR = `10.97.${next++}.0/24`;
      await client.patch(refTo(Node, { name: object.metadata.name }), { spec: { podCIDR, podCIDRs: [podCIDR] } });
    },
  });
  reflector.start();
  return reflector;
}

/** The administrator's kubeconfig as machines can use it. */
async function kubeconfigForMachines(): Promise<string> {
  const text = await readFile(plane.kubeconfigFile, "utf8");
  return text.replace(
    /( +)server: https:\/\/127\.0\.0\.1:(\d+)/,
    `$1server: https://${env.gateway}:$2\n$1tls-server-name: localhost`,
  );
}

async function cleanUp(): Promise<void> {
  await machines.removeAll();
  await removeBridge(env);
  await rm(env.stateDir, { recursive: true, force: true });
}

import { expect } from "vitest";
import { Cluster, Shoot, Worker, type KubeObject } from "../../src/api/index.ts";
import { NO_CLEANUP_LABEL, POOL_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { components } from "../../src/components/index.ts";
import { Deployment, Node, refOf, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createCare } from "../../src/worker/care.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const condition = (type: string, status: string) => ({
  ...{ type, status, reason: "Tested", message: "" },
  ...{ lastTransitionTime: "2026-01-01T10:00:00Z", lastUpdateTime: "2026-01-01T10:00:00Z" },
});

const snapshots = { readiness: () => ({ reached: true }) as const };

const lastOperation = {
  type: "Reconcile",
  state: "Succeeded",
  progress: 100,
  description: "",
  lastUpdateTime: "2026-01-01T10:00:00Z",
};

test("a seed's worker asks the garden of a Shoot when its health changes, and leaves others' conditions alone", async ({
  cluster,
}) => {
  const { client } = cluster;
  const conditions = [condition("TheirsIsWell", "True")];
  const { run, read } = await createReconciledShoot(client, "cared", conditions);
  const asked: string[] = [];
  const care = createCare({
    gardenClient: counting(client, asked),
    seedClient: client,
    seedName: "seed-1",
    shootClients: { get: () => Promise.resolve(client), close: () => Promise.resolve() } as never,
    snapshots,
    log,
    period: 20,
  });
  const caring = care.run();

  await eventually(async () => expect((await read()).map(({ type }) => type)).toContain("APIServerAvailable"));
  expect((await read()).find(({ type }) => type === "TheirsIsWell")).toEqual(conditions[0]);

  const before = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 500)); // twenty rounds or so
  expect(asked.slice(before)).toEqual([]);

  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "sick", namespace: run.technicalID, labels: { [ROLE_LABEL]: "controlplane" } },
  };
  const template = { metadata: { labels: { app: "sick" } }, spec: { containers: [{ name: "sick", image: "none" }] } };
  await client.apply({ ...deployment, spec: { selector: { matchLabels: { app: "sick" } }, template } });
  await eventually(async () => {
    const healthy = (await read()).find(({ type }) => type === "ControlPlaneHealthy");
    expect(healthy?.message).toContain("sick");
  });
  care.stop();
  await caring;
});

test("conditions of another writer stay, also when both write all the time", async ({ cluster: { client } }) => {
  const { ref, read } = await createReconciledShoot(client, "shared");
  let ready = false;
  // Each round finds the health changed, and has something to write.
  const get = async () => {
    ready = !ready;
    return ready ? "ok" : "away";
  };
  const care = createCare({
    gardenClient: client,
    seedClient: client,
    seedName: "seed-1",
    shootClients: { get: async () => ({ ...client, get }) } as never,
    snapshots,
    log,
    period: 1,
  });
  const caring = care.run();
  const messages = new Set<string | undefined>();
  const { namespace, name } = ref;
  for (let round = 1; round <= 30; round += 1) {
    const theirs = { ...condition("TheirsIsWell", "True"), message: `round ${round}` };
    const object = { ...typeMeta(Shoot), metadata: { namespace, name }, status: { conditions: [theirs] } };
    await client.applyStatus(object, { fieldManager: "another" });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const conditions = await read();
    expect(conditions.find(({ type }) => type === theirs.type)).toEqual(theirs);
    messages.add(conditions.find(({ type }) => type === "APIServerAvailable")?.message);
  }
  expect(messages.size).toBeGreaterThan(1);
  care.stop();
  await caring;
});

test("a Shoot that hibernates has conditions that claim nothing, until its API server answers again", async ({
  cluster,
}) => {
  const { client } = cluster;
  const conditions = [condition("APIServerAvailable", "True"), condition("EveryNodeReady", "False")];
  const { ref, read } = await createReconciledShoot(client, "asleep", conditions, { hibernation: { enabled: true } });
  let answers = false;
  const get = () => (answers ? Promise.resolve(client) : Promise.reject(new Error("asleep")));
  const care = createCare({
    ...{ gardenClient: client, seedClient: client, seedName: "seed-1", snapshots, log, period: 20 },
    shootClients: { get, close: () => Promise.resolve() } as never,
  });
  const caring = care.run();
  const reasons = async () => new Set((await read()).map(({ reason }) => reason));

  await eventually(async () => expect(await reasons()).toEqual(new Set(["ConditionNotChecked"])));
  await client.patch(ref, { spec: { hibernation: { enabled: false } } });
  answers = true;
  await eventually(async () => expect(await reasons()).not.toContain("ConditionNotChecked"));
  care.stop();
  await caring;
});

test("a webhook that would keep nodes from joining is a constraint until it is mended", async ({
  cluster: { client },
}) => {
  const { ref } = await createReconciledShoot(client, "constrained");
  const care = createCare({
    ...{ gardenClient: client, seedClient: client, seedName: "seed-1", snapshots, log, period: 20 },
    shootClients: { get: () => Promise.resolve(client), close: () => Promise.resolve() } as never,
  });
  const caring = care.run();
  const possible = async () =>
    (await client.read(ref))?.status?.constraints?.find(({ type }) => type === "HibernationPossible");
  await eventually(async () => expect(await possible()).toMatchObject({ status: "True" }));
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nodes"] }];
  const clientConfig = { url: "https://127.0.0.1:1" };
  const webhook = { name: "no.example.com", sideEffects: "None", admissionReviewVersions: ["v1"], clientConfig, rules };
  const configuration = {
    ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" },
    ...{ metadata: { name: "no-nodes" }, webhooks: [{ ...webhook, failurePolicy: "Fail" }] },
  };
  await client.apply(configuration);
  await eventually(async () =>
    expect(await possible()).toMatchObject({
      status: "False",
      message: expect.stringContaining("webhook no.example.com of ValidatingWebhookConfiguration no-nodes for nodes"),
    }),
  );
  await client.remove(refOf(configuration));
  await eventually(async () => expect(await possible()).toMatchObject({ status: "True" }));
  care.stop();
  await caring;
});

test("what an extension propagates is in the Shoot's conditions, until its controller is silent, and until it says so no more", async ({
  cluster: { client },
}) => {
  const theirs = condition("TheirsIsWell", "True");
  const { run, read } = await createReconciledShoot(client, "propagated", [theirs]);
  const metadata = { name: "network", namespace: run.technicalID };
  const network = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Network", metadata };
  const spec = { type: "calico", podCIDR: "10.1.0.0/16", serviceCIDR: "10.2.0.0/16" };
  await client.apply({ ...network, spec });
  const say = (conditions: readonly object[]) =>
    client.patch({ ...network, ...metadata }, { status: { conditions } }, { subresource: "status" });
  await say([{ ...condition("NetworkResolves", "True"), propagate: true }, condition("NetworkKeepsThis", "True")]);
  await client.apply({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name: "calico" },
    spec: { resources: [{ kind: "Network", type: "calico" }] },
  });
  const labels = { [ROLE_LABEL]: "extension", "controllerregistration.core.gardener.cloud/name": "calico" };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "extension-calico", labels } });
  const beat = (renewTime: string) =>
    client.apply({
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", spec: { renewTime } },
      metadata: { name: "gardener-extension-heartbeat", namespace: "extension-calico" },
    });
  await beat(new Date().toISOString().replace("Z", "000Z"));
  const status = async (type: string) => (await read()).find((one) => one.type === type)?.status;

  let stop = startCare(client);
  await eventually(async () => expect(await status("NetworkResolves")).toBe("True"));
  expect(await status("NetworkKeepsThis")).toBeUndefined();
  await beat("2026-01-01T10:00:00.000000Z");
  await eventually(async () => expect(await status("NetworkResolves")).toBe("Unknown"));
  await stop();
  await say([]); // while no worker looks
  stop = startCare(client);
  await eventually(async () => expect(await status("NetworkResolves")).toBeUndefined());
  expect((await read()).find(({ type }) => type === theirs.type)).toEqual(theirs);
  await stop();
});

test("the Shoot's own conditions each say what is bad of one part of it, and nothing of the other parts", async ({
  cluster: { client },
}) => {
  const { run, read } = await createReconciledShoot(client, "parts");
  let answer = "ok";
  const shootClient = { ...client, get: async () => answer };
  const stop = startCare(client, shootClient);
  const bad = async () => (await read()).flatMap(({ type, status }) => (status === "True" ? [] : [type]));
  const workload = (name: string, namespace: string, labels: Record<string, string>) => {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: "none" }] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
    return { ...typeMeta(Deployment), metadata: { name, namespace, labels }, spec };
  };
  const say = (object: ReturnType<typeof workload>, readyReplicas: number) => {
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas };
    return client.patch(refOf(object), { status }, { subresource: "status" });
  };
  const node = { ...typeMeta(Node), metadata: { name: "parts" } };
  const ready = (status: string) =>
    client.patch(refOf(node), { status: { conditions: [condition("Ready", status)] } }, { subresource: "status" });
  const inPool = (pool: string | null) => client.patch(refOf(node), { metadata: { labels: { [POOL_LABEL]: pool } } });
  await client.apply(workerOf(run.technicalID, { name: "pool", minimum: 1 }));
  const component = workload("component", run.technicalID, { [ROLE_LABEL]: "controlplane" });
  const system = workload("system", "kube-system", { [NO_CLEANUP_LABEL]: "true" });
  for (const object of [node, component, system]) await client.apply(object);
  const heal = async () => {
    await Promise.all([say(component, 1), say(system, 1), ready("True").then(() => inPool("pool"))]);
    answer = "ok";
  };
  const parts = [
    ["ControlPlaneHealthy", () => say(component, 0)],
    ["SystemComponentsHealthy", () => say(system, 0)],
    ["EveryNodeReady", () => ready("False")],
    ["EveryNodeReady", () => inPool(null)],
  ] as const;
  for (const [type, harm] of parts) {
    await heal();
    await eventually(async () => expect((await read()).length === 4 && (await bad())).toEqual([]));
    await harm();
    await eventually(async () => expect(await bad()).toEqual([type]));
  }
  await heal();
  answer = "away";
  // What is in the Shoot cannot be looked at then, and says so; the control plane can.
  const unseen = ["APIServerAvailable", "EveryNodeReady", "SystemComponentsHealthy"];
  await eventually(async () => expect((await bad()).toSorted()).toEqual(unseen));
  await stop();
  for (const object of [node, system]) await client.remove(refOf(object));
});

test("a Shoot whose API server has a tunnel says that it is down when no agent answers", async ({
  cluster: { client },
}) => {
  const { run, read } = await createReconciledShoot(client, "far");
  const context = { ...exampleContext(), namespace: run.technicalID, tunnel: true } as const;
  const apiServer = components["kube-apiserver"].objects(context).find(({ kind }) => kind === "Deployment");
  await client.apply(apiServer ?? expect.fail("there is no Deployment of the API server"));
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "far" } };
  await client.apply(node);
  await client.patch(
    { ...node, name: "far" },
    { status: { conditions: [condition("Ready", "True")] } },
    { subresource: "status" },
  );
  const stop = startCare(client);

  await eventually(async () => {
    const system = (await read()).find(({ type }) => type === "SystemComponentsHealthy");
    expect(system).toMatchObject({ status: "Progressing", reason: "TunnelConnectionBroken" });
  });
  await stop();
  await client.remove({ ...node, name: "far" });
});

/** The Worker of a Shoot, whose pool has at least so many nodes. */
function workerOf(namespace: string, pool: { readonly name: string; readonly minimum: number }): KubeObject {
  const machines = { machineType: "small", machineImage: { name: "image", version: "1.0.0" } };
  const sizes = { ...pool, maximum: 3, maxSurge: 1, maxUnavailable: 0 };
  const userDataSecretRef = { name: "user-data", key: "cloud_config" };
  const spec = { type: "local", region: "local", secretRef: { name: "credentials", namespace } };
  return {
    ...{ ...typeMeta(Worker), metadata: { namespace, name: "worker" } },
    spec: { ...spec, pools: [{ ...sizes, ...machines, userDataSecretRef }] },
  };
}

/** A Shoot that Seed seed-1 has, reconciled; `read` reads its conditions. */
async function createReconciledShoot(
  client: KubeClient,
  name: string,
  conditions: readonly object[] = [],
  spec: Partial<Shoot["spec"]> = {},
) {
  await applyGarden(client);
  const run = await createShoot(client, name, spec);
  const ref = refTo(Shoot, { namespace: run.namespace, name });
  const shoot = await client.read(ref);
  await client.apply({
    ...typeMeta(Cluster),
    metadata: { name: run.technicalID },
    spec: { shoot, seed: {}, cloudProfile: {} },
  } as never);
  await client.patch(ref, { status: { seedName: "seed-1", lastOperation, conditions } }, { subresource: "status" });
  return { run, ref, read: async () => (await client.read(ref))?.status?.conditions ?? [] };
}

/** Looks after the Shoots of a seed that is its own garden and its own Shoot; returns what ends that. */
function startCare(client: KubeClient, shootClient: object = client) {
  const shootClients = { get: async () => shootClient } as never;
  const clients = { gardenClient: client, seedClient: client, shootClients };
  const care = createCare({ ...clients, seedName: "seed-1", snapshots, log, period: 20 });
  const caring = care.run();
  return async () => {
    care.stop();
    await caring;
  };
}

/** The client, which writes down what is asked of it. */
function counting(client: KubeClient, asked: string[]): KubeClient {
  return new Proxy(client, {
    get: (target, name: keyof KubeClient) => {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        asked.push(name);
        return (value as (...all: unknown[]) => unknown)(...args);
      };
    },
  });
}

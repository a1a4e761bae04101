import { expect } from "vitest";
import { HANDOVER_ANNOTATION } from "../../src/api/annotations.ts";
import { NO_CLEANUP_LABEL } from "../../src/api/labels.ts";
import { Cluster, Infrastructure, Network } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { sparedSteps } from "../../src/flow/spared.ts";
import {
  ConfigMap,
  createKubeClient,
  Deployment,
  Namespace,
  Node,
  refOf,
  refTo,
  Secret,
  StatefulSet,
  type KubeClient,
  type MergePatch,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { components } from "../../src/components/index.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { counting, isWrite, type Requests } from "../../bench/counting-client.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { startReconciledShoot, type ReconciledShoot } from "../support/reconciled-shoot.ts";

const requests: Requests = {};
let kube: KubeClient;
let proxy: FaultyProxy;
let watching: KubeClient;
let shoot: ReconciledShoot;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  proxy = await startFaultyProxy(cluster.tokenKubeconfig);
  watching = createKubeClient({ file: proxy.kubeconfigFile });
  shoot = await startReconciledShoot(cluster, (client) => counting(client, "any", requests), watching);
});
test.afterAll(async () => {
  await shoot.stop();
  await watching.close();
  await proxy.close();
});

const rows = () => Object.keys(shoot.rows);
const settled = (change = {}) => shoot.activities.survey({ ...shoot.run, ...change }, shoot.rows);

/** Which rows run after a survey of the world as it is. */
const running = async () => {
  const spared = sparedSteps(reconcile, shoot.run, { by: "survey", settled: new Set(await settled()) });
  return rows().filter((row) => !spared.has(row));
};

const inNamespace = (name: string) => ({ namespace: shoot.run.technicalID, name });

/** Everything that is settled again once all rows have run. */
const mend = async () => {
  await shoot.reconcile({ periodic: false });
  await eventually(async () => expect(await settled()).toEqual(rows()));
};

const requestsOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  for (const sort of Object.keys(requests)) delete requests[sort];
  await act();
  return Object.keys(requests);
};

const writesOf = async (act: () => Promise<unknown>) => (await requestsOf(act)).filter(isWrite);

const dryRunsOf = async (act: () => Promise<unknown>) =>
  (await requestsOf(act)).filter((sort) => sort.includes("dry-run"));

test("a survey finds every row settled after a Reconcile, and writes nothing to find it", async () => {
  const versions = async () => (await kube.list(Deployment)).map(({ metadata }) => metadata.resourceVersion);
  const before = await versions();
  expect(await writesOf(async () => expect(await settled()).toEqual(rows()))).toEqual([]);
  expect(await versions()).toEqual(before);
});

test("a survey asks for no dry run whose answer is known, and a worker that has just started for all of them", async () => {
  await settled();
  expect(await dryRunsOf(async () => expect(await settled()).toEqual(rows()))).toEqual([]);
  const { survey } = shoot.startAnew();
  const first = await dryRunsOf(async () => expect(await survey(shoot.run, shoot.rows)).toEqual(rows()));
  expect(first).toEqual(expect.arrayContaining(["any dry-run-apply Deployment", "any dry-run-apply NetworkPolicy"]));
  expect(await dryRunsOf(() => survey(shoot.run, shoot.rows))).toEqual([]);
});

/** Of each class of object: what others make of one, and the row that has to mend it. */
const changes: readonly (readonly [row: string, ref: () => ObjectRef, patch: MergePatch])[] = [
  ["kubeControllerManager", () => refTo(Deployment, inNamespace("kube-controller-manager")), { spec: { replicas: 2 } }],
  ["secrets", () => refTo(Secret, inNamespace("kube-scheduler")), { data: { kubeconfig: "dGhlaXJz" } }],
  ["kubeScheduler", () => refTo(ConfigMap, inNamespace("kube-scheduler-config")), { data: { "config.yaml": "" } }],
  ["networkPolicies", () => policyRef("deny-all"), { spec: { podSelector: { matchLabels: { theirs: "true" } } } }],
  ["infrastructure", () => refTo(Infrastructure, inNamespace(shoot.run.name)), { spec: { region: "theirs" } }],
  ["coreDns", () => refTo(ConfigMap, { namespace: "kube-system", name: "coredns" }), { data: { Corefile: "" } }],
  ["coreDns", () => roleRef("perennial:coredns"), { rules: [], metadata: { labels: { [NO_CLEANUP_LABEL]: null } } }],
];

const policyRef = (name: string): ObjectRef => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  ...inNamespace(name),
});

const roleRef = (name: string): ObjectRef => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  name,
});

test("what others have changed is found although the survey before was answered from memory", async () => {
  for (const [row, ref, patch] of changes) {
    await settled();
    expect(await dryRunsOf(async () => expect(await settled()).toEqual(rows()))).toEqual([]);
    await kube.patch(ref(), patch);
    await eventually(async () => expect(await settled(), `${ref().kind} ${ref().name}`).not.toContain(row));
    expect(await settled(), "once more").not.toContain(row);
    await mend();
  }
});

test("that something else is wanted is found although nothing has changed in the seed", async () => {
  await settled();
  const { namespace, name } = shoot.run;
  const garden: ObjectRef = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", namespace, name };
  const want = (nodeMonitorGracePeriod: string | null) =>
    kube.patch(garden, { spec: { kubernetes: { kubeControllerManager: { nodeMonitorGracePeriod } } } });
  await want("2m0s");
  expect(await settled()).not.toContain("kubeControllerManager");
  await want(null);
  expect(await settled()).toContain("kubeControllerManager");
});

test("a watch that is broken is not believed: what others change meanwhile is found", async () => {
  await settled();
  const before = proxy.requests.length;
  proxy.cut();
  const isBroken = (line: string) => line.includes("/deployments?") && line.includes("watch=true");
  await eventually(() => proxy.requests.slice(before).some(isBroken));
  const deployment = refTo(Deployment, inNamespace("kube-scheduler"));
  await kube.patch(deployment, { spec: { replicas: 2 } });
  expect(await settled()).not.toContain("kubeScheduler");
  await kube.patch(deployment, { spec: { replicas: 1 } });
  proxy.mend();
  await mend();
});

test("rows that run and find nothing to change write nothing", async () => {
  expect(await writesOf(() => shoot.reconcile())).toEqual([]);
});

test("an operation that an operator asked for asks the controllers that act in every operation, and writes nothing else", async () => {
  const asked = await settled({ periodic: false });
  expect(rows().filter((row) => !asked.includes(row))).toEqual([
    ...["controlPlane", "operatingSystemConfig", "network", "worker"],
  ]);
  const written = await writesOf(() => shoot.reconcile({ periodic: false }));
  expect(written.map((sort) => sort.split(" ")[2]).sort()).toEqual([
    ...["ControlPlane", "Network", "OperatingSystemConfig", "Worker"],
  ]);
  await mend();
});

test("an object that others have changed makes its row run, and everything behind it", async () => {
  await kube.patch(refTo(ConfigMap, inNamespace("kube-scheduler-config")), { data: { "config.yaml": "theirs" } });
  expect(await running()).toEqual(["kubeScheduler"]);
  await kube.patch(refTo(Cluster, { name: shoot.run.technicalID }), {
    spec: { shoot: { spec: { region: "theirs" } } },
  });
  expect(await settled()).not.toContain("cluster");
  const handover = { metadata: { annotations: { [HANDOVER_ANNOTATION]: "2" } } };
  await kube.patch(refTo(Namespace, { name: shoot.run.technicalID }), handover);
  expect(await settled()).not.toContain("leader");
  await mend();
  await kube.patch(refTo(StatefulSet, inNamespace("etcd-main")), { spec: { replicas: 3 } });
  const ran = await running();
  expect(ran).toEqual(
    expect.arrayContaining(["etcd", "kubeApiServer", "controlPlane", "network", "worker", "nodesReady"]),
  );
  expect(ran).not.toEqual(expect.arrayContaining(["infrastructure"]));
  await mend();
});

test("an object that is gone makes its row run: a policy, a certificate", async () => {
  await kube.remove(policyRef("deny-all"));
  expect(await running()).toEqual(rows());
  await mend();
  await kube.remove(refTo(Secret, inNamespace("kube-scheduler")));
  expect(await settled()).not.toContain("secrets");
  await mend();
});

test("agents of a tunnel that the Shoot does not have any more are found, and taken away", async () => {
  const agents = components["tunnel-agent"].objects(exampleContext());
  for (const object of agents) await kube.apply(object);
  expect(await settled()).not.toContain("staleTunnelAgent");
  await shoot.activities.destroyComponent(shoot.run, "tunnel-agent", "staleTunnelAgent");
  for (const object of agents) {
    const ref = refOf(object);
    const left = await kube.read(ref);
    expect(left === undefined || left.metadata.deletionTimestamp !== undefined, ref.name).toBe(true);
    // Here is no garbage collector, which would let them go.
    if (left !== undefined) await kube.patch(ref, { metadata: { finalizers: null } });
  }
  await eventually(async () => expect(await settled()).toEqual(rows()));
});

test("what a row would wait for has to be reached: workloads, nodes", async () => {
  const notReady = { status: { readyReplicas: 0 } };
  await kube.patch(refTo(Deployment, inNamespace("kube-controller-manager")), notReady, { subresource: "status" });
  await eventually(async () =>
    expect(await running()).toEqual([
      "kubeControllerManager",
      "worker",
      "nodesReady",
      "routes",
      "staleConfigs",
      "staleExtensions",
    ]),
  );
  const ready = { status: { readyReplicas: 1 } };
  await kube.patch(refTo(Deployment, inNamespace("kube-controller-manager")), ready, { subresource: "status" });
  await eventually(async () => expect(await running()).toEqual([]));

  await nodeSays("False");
  expect(await running()).toEqual(["nodesReady", "routes", "staleConfigs"]);
  await nodeSays("True");
});

const nodeSays = (status: string) =>
  kube.patch(
    refTo(Node, { name: "node" }),
    { status: { conditions: [{ type: "Ready", status, reason: "Test", message: "" }] } },
    { subresource: "status" },
  );

test("an extension that failed, was asked by others, or has rested for a day acts again", async () => {
  const network = refTo(Network, inNamespace(shoot.run.name));
  const behind = [
    "network",
    "kubeProxy",
    "coreDns",
    "worker",
    "nodesReady",
    "routes",
    "staleConfigs",
    "staleExtensions",
  ];
  const { status } = (await kube.read(network)) as KubeObject & { status: { lastOperation: object } };
  const say = (change: object) => kube.patch(network, { status: change }, { subresource: "status" });

  await say({ lastError: { description: "no route", lastUpdateTime: "2026-01-01T00:00:00Z" } });
  await eventually(async () => expect(await running()).toEqual(behind));
  await say({ lastError: null, lastOperation: { ...status.lastOperation, state: "Error" } });
  await eventually(async () => expect(await running()).toEqual(behind));
  const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
  await kube.patch(network, { metadata: { annotations: { "gardener.cloud/timestamp": yesterday } } });
  await say({ lastOperation: { ...status.lastOperation, lastUpdateTime: yesterday } });
  await eventually(async () => expect(await running()).toEqual(behind));
  await mend();

  const tasks = { "shoot.gardener.cloud/tasks": "deployInfrastructure" };
  const { namespace, name } = shoot.run;
  const garden: ObjectRef = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", namespace, name };
  await kube.patch(garden, { metadata: { annotations: tasks } });
  expect(await settled()).not.toContain("infrastructure");
  await kube.patch(garden, { metadata: { annotations: { "shoot.gardener.cloud/tasks": null } } });
  await mend();
});

test("a row that cannot be judged runs, and keeps no other from being judged", async () => {
  const found = await shoot.activities.survey(shoot.run, {
    ...shoot.rows,
    etcd: { verb: "stop", component: "etcd" },
    secrets: { verb: "call", activity: "removeNamespace" },
  });
  expect(found).toEqual(rows().filter((row) => row !== "etcd" && row !== "secrets"));
  expect(await kube.read(Infrastructure, inNamespace(shoot.run.name))).toBeDefined();
});

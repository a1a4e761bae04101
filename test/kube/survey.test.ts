import { expect } from "vitest";
import { HANDOVER_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, Infrastructure, Network } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { sparedSteps } from "../../src/flow/spared.ts";
import {
  ConfigMap,
  Deployment,
  Namespace,
  Node,
  refTo,
  Secret,
  StatefulSet,
  type KubeClient,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { counting, isWrite, type Requests } from "../../bench/counting-client.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startReconciledShoot, type ReconciledShoot } from "../support/reconciled-shoot.ts";

const test = ownClusterTest({
  flags: ["--allow-privileged=true", "--service-cluster-ip-range=10.190.0.0/16"],
  crds: true,
});
const requests: Requests = {};
let kube: KubeClient;
let shoot: ReconciledShoot;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  shoot = await startReconciledShoot(cluster, (client) => counting(client, "any", requests));
});
test.afterAll(() => shoot.stop());

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

const writesOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  for (const sort of Object.keys(requests)) delete requests[sort];
  await act();
  return Object.keys(requests).filter(isWrite);
};

test("a survey finds every row settled after a Reconcile, and writes nothing to find it", async () => {
  const versions = async () => (await kube.list(Deployment)).map(({ metadata }) => metadata.resourceVersion);
  const before = await versions();
  expect(await writesOf(async () => expect(await settled()).toEqual(rows()))).toEqual([]);
  expect(await versions()).toEqual(before);
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
  const policy: ObjectRef = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", ...inNamespace("deny-all") };
  await kube.remove(policy);
  expect(await running()).toEqual(rows());
  await mend();
  await kube.remove(refTo(Secret, inNamespace("kube-scheduler")));
  expect(await settled()).not.toContain("secrets");
  await mend();
});

test("what a row would wait for has to be reached: workloads, nodes", async () => {
  const notReady = { status: { readyReplicas: 0 } };
  await kube.patch(refTo(Deployment, inNamespace("kube-controller-manager")), notReady, { subresource: "status" });
  await eventually(async () =>
    expect(await running()).toEqual(["kubeControllerManager", "worker", "nodesReady", "staleConfigs"]),
  );
  const ready = { status: { readyReplicas: 1 } };
  await kube.patch(refTo(Deployment, inNamespace("kube-controller-manager")), ready, { subresource: "status" });
  await eventually(async () => expect(await running()).toEqual([]));

  await nodeSays("False");
  expect(await running()).toEqual(["nodesReady", "staleConfigs"]);
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
  const behind = ["network", "kubeProxy", "coreDns", "worker", "nodesReady", "staleConfigs"];
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

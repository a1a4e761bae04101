import { describe, expect } from "vitest";
import { findNodeTrouble } from "../../src/activities/waits/node-trouble.ts";
import { createObstacles } from "../../src/activities/waits/obstacles.ts";
import type { WaitTarget } from "../../src/activities/index.ts";
import type { Readiness } from "../../src/activities/waits/readiness.ts";
import { Node, Pod, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { shootRun } from "../support/shoot-run.ts";

let kube: KubeClient;
const namespace = "shoot--dev--crashing";
const labels = { app: "kubernetes", role: "apiserver" };
const log = "starting, password=hunter2\nError: unrecognized feature gate: Nonsense\n";
const target: WaitTarget = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", name: "kube-apiserver", namespace },
  ...{ until: "rolledOut", severeAfter: 300_000, deadline: 300_000 },
};
const said =
  `Deployment ${namespace}/kube-apiserver is not rolled out: 0 of 1 pods are ready: pod kube-apiserver-abc, ` +
  "container kube-apiserver: CrashLoopBackOff, exit code 1: starting, password=[redacted] | Error: unrecognized feature gate: Nonsense";

const obstacles = (attempt: number, readiness: Readiness = { reached: false, message: "0 of 1 pods are ready" }) =>
  createObstacles({
    seedClient: kube,
    readinessOf: async () => readiness,
    nodeTrouble: async () => ({ about: "node a", message: "node a: NotReady", codes: [] }),
    asking: () => ({ attempt }),
  });

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const spec = { containers: [{ name: "kube-apiserver", image: "kube-apiserver" }] };
  const template = { metadata: { labels }, spec };
  await kube.create({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "kube-apiserver", namespace } },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  await crash("kube-apiserver-abc", labels, log);
  await crash("etcd-main-0", { app: "etcd" }, "not ours");

  async function crash(name: string, podLabels: Record<string, string>, message: string): Promise<void> {
    await kube.create({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels: podLabels }, spec });
    const state = { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } };
    const lastState = { terminated: { exitCode: 1, reason: "Error", message } };
    const container = { name: "kube-apiserver", image: "", imageID: "", ready: false, restartCount: 3 };
    const status = { phase: "Running", containerStatuses: [{ ...container, state, lastState }] };
    await kube.patch(refTo(Pod, { name, namespace }), { status }, { subresource: "status" });
  }
});

test("a flow that waits for a workload is told why its pod crashes, as the pod said it, without its secrets", async () => {
  await expect(obstacles(2).tell(shootRun(), [target], [])).rejects.toMatchObject({
    type: "Trouble",
    nonRetryable: true,
    message: said,
    details: [
      {
        about: "Deployment kube-apiserver, container kube-apiserver",
        message: said,
        codes: ["ERR_CONFIGURATION_PROBLEM"],
      },
    ],
  });
});

test("a flow is told of a trouble once, and not before what was there earlier can have gone", async () => {
  await obstacles(2).tell(shootRun(), [target], ["Deployment kube-apiserver, container kube-apiserver"]);
  await obstacles(1).tell(shootRun(), [target], []);
  await obstacles(2, { reached: true }).tell(shootRun(), [target], []);
});

test("a wait that is late says the same", async () => {
  const { message, codes } = await obstacles(1).explain(shootRun(), [target]);
  expect({ message, codes }).toEqual({ message: said, codes: ["ERR_CONFIGURATION_PROBLEM"] });
});

test("what keeps nodes is told after a minute of looks, and when the wait is late", async () => {
  const nodes: WaitTarget = { ...target, kind: "Worker", name: "local", until: "nodesReady" };
  const trouble = {
    about: "Worker local, node a",
    message: expect.stringContaining("0 of 1 pods are ready: node a: NotReady"),
  };
  await obstacles(4).tell(shootRun(), [nodes], []);
  await expect(obstacles(5).tell(shootRun(), [nodes], [])).rejects.toMatchObject({ details: [trouble] });
  await obstacles(5).tell(shootRun(), [nodes], [trouble.about]);
  expect(await obstacles(1).explain(shootRun(), [nodes])).toMatchObject({ message: trouble.message });
});

test("a workload that is gone has no trouble", async () => {
  await obstacles(2).tell(shootRun(), [{ ...target, name: "kube-scheduler" }], []);
});

test("a workload whose pods cannot be made says why, in the API server's words", async () => {
  const name = "kube-controller-manager";
  const matchLabels = { app: name };
  const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name, image: name }] } };
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } };
  await kube.create({ ...deployment, spec: { selector: { matchLabels }, template } });
  const message = 'pods "kube-controller-manager-1" is forbidden: exceeded quota: none';
  const conditions = [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message }];
  await kube.patch(refOf(deployment), { status: { conditions } }, { subresource: "status" });
  await expect(obstacles(2).tell(shootRun(), [{ ...target, name }], [])).rejects.toMatchObject({
    message: expect.stringContaining(`no pod can be made: ${message}`),
  });
});

describe("what keeps nodes", () => {
  const look = async () =>
    (await findNodeTrouble({ shootClient: kube, seedClient: kube, namespace: "shoot--dev--nodes" }))?.message;

  test("is nothing where nothing is to be seen", async () => {
    expect(await look()).toBeUndefined();
  });

  test("is a pod of the system that no node takes, in the scheduler's words", async () => {
    const metadata = { name: "coredns-a", namespace: "kube-system" };
    await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "a", image: "a" }] } });
    const message = "0/1 nodes are available: 1 node(s) had untolerated taint {example.com/own: true}.";
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
    await kube.patch(refTo(Pod, metadata), { status: { conditions } }, { subresource: "status" });
    expect(await look()).toBe(`pod coredns-a, not scheduled: ${message} (kube-system of the Shoot)`);
  });

  test("is a webhook that refuses nodes, before that", async () => {
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nodes"] }];
    const clientConfig = { url: "https://127.0.0.1:1" };
    const name = "no.example.com";
    const configuration = {
      ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" },
      metadata: { name: "no-nodes" },
      webhooks: [{ name, sideEffects: "None", admissionReviewVersions: ["v1"], clientConfig, rules }],
    };
    await kube.create(configuration);
    expect(await look()).toContain(`webhook ${name} of ValidatingWebhookConfiguration no-nodes for nodes`);
    await kube.remove(refOf(configuration));
  });

  test("is what a node's kubelet says, first of all", async () => {
    await kube.create({ apiVersion: "v1", kind: "Node", metadata: { name: "a" } });
    const message = "container runtime network not ready: NetworkReady=false: cni plugin not initialized";
    const conditions = [{ type: "Ready", status: "False", reason: "KubeletNotReady", message }];
    await kube.patch(refTo(Node, { name: "a" }), { status: { conditions } }, { subresource: "status" });
    expect(await look()).toBe(`node a: KubeletNotReady: ${message}`);
  });
});

import { expect } from "vitest";
import { createObstacles } from "../../src/activities/waits/obstacles.ts";
import type { WaitTarget } from "../../src/activities/index.ts";
import type { Readiness } from "../../src/activities/waits/readiness.ts";
import { Pod, refTo, type KubeClient } from "../../src/kube/index.ts";
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
    waits: { readiness: () => readiness },
    nodeReadiness: async () => readiness,
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
  await expect(obstacles(2).tell([target], [])).rejects.toMatchObject({
    type: "Trouble",
    nonRetryable: true,
    message: said,
    details: [{ about: "Deployment kube-apiserver, container kube-apiserver", message: said, codes: ["ERR_CONFIGURATION_PROBLEM"] }],
  });
});

test("a flow is told of a trouble once, and not before what was there earlier can have gone", async () => {
  await obstacles(2).tell([target], ["Deployment kube-apiserver, container kube-apiserver"]);
  await obstacles(1).tell([target], []);
  await obstacles(2, { reached: true }).tell([target], []);
});

test("a wait that is late says the same", async () => {
  const { message, codes } = await obstacles(1).explain(shootRun(), [target]);
  expect({ message, codes }).toEqual({ message: said, codes: ["ERR_CONFIGURATION_PROBLEM"] });
});

test("a workload that is gone has no trouble", async () => {
  await obstacles(2).tell([{ ...target, name: "kube-scheduler" }], []);
});

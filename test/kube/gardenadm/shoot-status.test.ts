import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import { Cluster, CloudProfile, Project, Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { nodeAgentLeaseName } from "../../../src/api/names.ts";
import { clusterObject, imagesFor } from "../../../src/components/index.ts";
import { changeShootStatus, readShootStatus } from "../../../src/gardenadm/cluster/shoot-status.ts";
import { watchConditions } from "../../../src/gardenadm/node-agent/condition-watch.ts";
import { keepConditions } from "../../../src/gardenadm/node-agent/conditions.ts";
import { createReconcileActions } from "../../../src/gardenadm/reconcile/actions.ts";
import { reportOperation, type ReportDeps } from "../../../src/gardenadm/reconcile/operation-report.ts";
import { Deployment, Lease, microTime, Node, Pod, refTo, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { tellingWrites } from "../../../src/kube/telling-writes.ts";
import { createLogger } from "../../../src/log.ts";
import { test } from "../../support/cluster-test.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { eventually } from "../../support/eventually.ts";

/** What the Shoot says of itself where there is no garden: in `Cluster` kube-system. */
const namespace = "kube-system";
const uid = randomUUID();
const [shootOf, projectOf, cloudProfile] = exampleConfiguration();
const shoot = Shoot.parse({ ...shootOf, metadata: { name: "root", namespace: "garden", uid } });
const configuration = { shoot, project: Project.parse(projectOf) };
const cluster = clusterObject({ shoot, namespace, cloudProfile: CloudProfile.parse(cloudProfile) });
const timing = { look: 20, first: 40, most: 40 };
const STATIC_PODS = ["etcd-main", "etcd-events", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const log = createLogger({ name: "test", level: "silent" });
const running: (() => Promise<void>)[] = [];
let client: KubeClient;

test.beforeAll(async ({ cluster: { client: own } }) => {
  client = own;
  for (const name of ["a", "b"]) {
    await client.apply<Node>({ ...typeMeta(Node), metadata: { name, labels: { [CONTROL_PLANE_LABEL]: "" } } });
    await nodeReady(name, "True");
    for (const pod of STATIC_PODS) await mirror(`${pod}-${name}`, name);
  }
  const labels = { "gardener.cloud/role": "controlplane" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "x", image: "x" }] } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  const deployment = { ...typeMeta(Deployment), metadata: { name: "kube-apiserver", namespace, labels }, spec };
  await client.apply<Deployment>(deployment);
  await client.patch(refTo(Deployment, { namespace, name: "kube-apiserver" }), observed, { subresource: "status" });
});

const observed = { status: { observedGeneration: 1 } };

beforeEach(async () => {
  await client.apply(cluster);
  await changeShootStatus(client, "gardenadm", () => ({ lastOperation: null, lastErrors: null, conditions: null }));
});

afterEach(async () => {
  for (const end of running.splice(0)) await end();
});

test("a first run is a Create: what it has done, what has failed and with what code stands in the Shoot", async () => {
  const report = await reportOperation(deps());
  await eventually(async () =>
    expect(await statusOf()).toMatchObject({
      ...{ uid, technicalID: `shoot--${configuration.project.metadata.name}--root`, hibernated: false },
      gardener: { name: "gardenadm" },
      lastOperation: { type: "Create", state: "Processing", progress: 0 },
    }),
  );
  report.change({ step: "crds", state: "done" });
  report.change({ step: "cluster", state: "running" });
  report.change({ step: "cluster", state: "parked", message: "no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] });
  await report.end("stopped");
  const { lastOperation, lastErrors } = await statusOf();
  expect(lastOperation).toMatchObject({
    type: "Create",
    state: "Error",
    description: expect.stringContaining("cluster") as string,
  });
  expect(lastOperation?.progress).toBeGreaterThan(0);
  expect(lastErrors).toMatchObject([
    { taskID: "cluster", description: "no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
  ]);
  await (await reportOperation(deps())).end("succeeded");
  const after = await statusOf();
  expect(after.lastOperation).toMatchObject({ type: "Create", state: "Succeeded", progress: 100 });
  expect(after.lastErrors).toBeUndefined();
  expect(Shoot.parse({ ...shoot, status: after }).status).toEqual(after);
});

test("a run that writes nothing says nothing, one that writes is a Reconcile, and one after a restore a Restore", async () => {
  await (await reportOperation(deps())).end("succeeded");
  const before = await versionOf();
  const quiet = await reportOperation(deps({ hasWritten: () => false }));
  for (const step of ["crds", "namespaces"]) quiet.change({ step, state: "done" });
  await quiet.end("succeeded");
  expect(await versionOf()).toBe(before);

  let hasWritten = false;
  const told = tellingWrites(client, () => (hasWritten = true));
  const busy = await reportOperation(deps({ client: told, hasWritten: () => hasWritten }));
  await told.apply(cluster, { dryRun: true });
  await told.apply<Lease>({ ...typeMeta(Lease), metadata: { name: "turn", namespace }, spec: {} });
  expect(hasWritten).toBe(false);
  await told.apply(cluster);
  await eventually(async () =>
    expect((await statusOf()).lastOperation).toMatchObject({ type: "Reconcile", state: "Processing" }),
  );
  await busy.end("succeeded");
  expect((await statusOf()).lastOperation).toMatchObject({ type: "Reconcile", state: "Succeeded" });

  await (await reportOperation(deps({ isRestored: true, hasWritten: () => false }))).end("succeeded");
  expect((await statusOf()).lastOperation).toMatchObject({ type: "Restore", state: "Succeeded" });
});

test("a command whose turn another has taken over says nothing any more, also not how it has ended", async () => {
  let isHeld = true;
  const report = await reportOperation(deps({ holdsTurn: () => isHeld }));
  report.change({ step: "crds", state: "done" });
  await eventually(async () => expect((await statusOf()).lastOperation?.progress).toBeGreaterThan(0));
  isHeld = false;
  const before = await versionOf();
  report.change({ step: "cluster", state: "parked", message: "another has the turn" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await report.end("stopped");
  expect(await versionOf()).toBe(before);
});

test("what was said stays when Cluster is applied again, and nothing is said while there is none", async () => {
  await (await reportOperation(deps())).end("succeeded");
  await keepConditions(client, () => new Date());
  const said = await statusOf();
  expect(said.conditions).toHaveLength(4);
  await syncCluster({ metadata: { ...shoot.metadata, labels: { x: "y" } }, status: { technicalID: "of-its-garden" } });
  expect((await client.read(Cluster, { name: namespace }))?.spec.shoot.metadata.labels).toEqual({ x: "y" });
  expect(await statusOf()).toEqual(said);
  await client.remove(refTo(Cluster, { name: namespace }));
  await (await reportOperation(deps())).end("succeeded");
  expect(await readShootStatus(client)).toBeUndefined();
});

test("conditions say which static pod and which node is not as it should be, and are written only when one changes", async () => {
  await keepConditions(client, () => new Date());
  expect((await statusOf()).conditions).toBeUndefined(); // a control plane that is still being built is not sick
  await (await reportOperation(deps())).end("succeeded");
  await keepConditions(client, () => new Date());
  expect(await states()).toEqual({
    APIServerAvailable: "True",
    ControlPlaneHealthy: "True",
    EveryNodeReady: "True",
    SystemComponentsHealthy: "True",
  });
  const before = await versionOf();
  await keepConditions(client, () => new Date(Date.now() + 60_000));
  expect(await versionOf()).toBe(before);

  await podReady("etcd-main-b", "False");
  await nodeReady("b", "Unknown");
  const later = new Date();
  expect(await keepConditions(client, () => later)).toBe(false);
  expect(await states()).toMatchObject({ ControlPlaneHealthy: "Progressing", EveryNodeReady: "Progressing" });
  await keepConditions(client, () => new Date(later.getTime() + 90_000));
  expect(await states()).toMatchObject({
    APIServerAvailable: "True",
    ControlPlaneHealthy: "False",
    EveryNodeReady: "False",
  });
  const { conditions = [] } = await statusOf();
  expect(conditions.find(({ type }) => type === "ControlPlaneHealthy")?.message).toBe("Not ready: etcd-main on b");
  expect(conditions.find(({ type }) => type === "EveryNodeReady")?.message).toBe("Not ready: b");
  await podReady("etcd-main-b", "True");
  await nodeReady("b", "True");
  expect(await keepConditions(client, () => new Date())).toBe(true);
});

test("a static pod that another node's kubelet says it has, under the name of a missing one, counts for nothing", async () => {
  await (await reportOperation(deps())).end("succeeded");
  await client.remove(refTo(Pod, { namespace, name: "kube-scheduler-b" }), { gracePeriodSeconds: 0 });
  await mirror("kube-scheduler-b", "w");
  await keepConditions(client, () => new Date());
  const { conditions = [] } = await statusOf();
  expect(conditions.find(({ type }) => type === "ControlPlaneHealthy")?.message).toBe("Not ready: kube-scheduler on b");
  await client.remove(refTo(Pod, { namespace, name: "kube-scheduler-b" }), { gracePeriodSeconds: 0 });
  await mirror("kube-scheduler-b", "b");
});

test("of the agents of a control plane, the first looks whose heartbeat is fresh", async () => {
  await (await reportOperation(deps())).end("succeeded");
  await heartbeat("a", new Date());
  watch("b");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await statusOf()).conditions).toBeUndefined();
  await heartbeat("a", new Date(Date.now() - 60_000));
  await eventually(async () => expect((await statusOf()).conditions).toHaveLength(4));
});

/** The row `cluster`, of a configuration whose Shoot has this besides. */
async function syncCluster(more: object): Promise<void> {
  const context = { namespace, cloudProfile: cluster.spec.cloudProfile, shoot: { ...shoot, ...more } };
  const perform = createReconcileActions({
    ...{ client, uid, helm: "", machine: { root: "/nonexistent", hostName: "a" } },
    configuration: { ...configuration, cloudProfile: cluster.spec.cloudProfile, folder: "", objects: [] },
    run: { podNetworkMissing: false, hasKubeProxy: true, offered: [], hasBackup: false },
    readContext: async () => await Promise.resolve({ ...context, checksums: {}, images: imagesFor("1.34.4") }),
  });
  await perform({ verb: "call", activity: "syncCluster" }, { signal: new AbortController().signal, tell: () => {} });
}

function deps(more: Partial<ReportDeps> = {}): ReportDeps {
  return {
    client,
    configuration,
    uid,
    isRestored: false,
    hasWritten: () => true,
    holdsTurn: () => true,
    timing,
    ...more,
  };
}

const statusOf = async () => (await readShootStatus(client)) ?? expect.fail("no Cluster");

const versionOf = async () => (await client.read(Cluster, { name: namespace }))?.metadata.resourceVersion;

const states = async () =>
  Object.fromEntries(((await statusOf()).conditions ?? []).map(({ type, status }) => [type, status]));

function watch(hostName: string): void {
  const stop = new AbortController();
  const over = watchConditions({ client, hostName, log, every: 50 }, stop.signal);
  running.push(async () => {
    stop.abort();
    await over;
  });
}

async function heartbeat(node: string, time: Date): Promise<void> {
  const metadata = { namespace, name: nodeAgentLeaseName(node) };
  await client.apply<Lease>({
    ...typeMeta(Lease),
    metadata,
    spec: { holderIdentity: node, renewTime: microTime(time) },
  });
}

async function nodeReady(name: string, status: string): Promise<void> {
  const conditions = [{ type: "Ready", status }];
  await client.patch(refTo(Node, { name }), { status: { conditions } }, { subresource: "status" });
}

async function podReady(name: string, status: string): Promise<void> {
  const conditions = [{ type: "Ready", status }];
  await client.patch(refTo(Pod, { namespace, name }), { status: { conditions } }, { subresource: "status" });
}

/** As a kubelet shows a static pod. */
async function mirror(name: string, nodeName: string): Promise<void> {
  const metadata = { name, namespace, labels: { "static-pod": "true" } };
  const spec = { nodeName, containers: [{ name: "x", image: "x" }], automountServiceAccountToken: false };
  await client.apply<Pod>({ ...typeMeta(Pod), metadata, spec });
  await podReady(name, "True");
}

import { afterAll, afterEach, beforeEach, describe, expect } from "vitest";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { createNamespaceFence } from "../../src/activities/leadership/namespace-fence.ts";
import { createDecommissioning } from "../../src/activities/teardown/decommissioning.ts";
import { Superseded } from "../../src/activities/superseded.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits, type Waits } from "../../src/activities/waits/waits.ts";
import {
  EPOCH_ANNOTATION,
  HANDOVER_ANNOTATION,
  HANDOVER_RENEWED_ANNOTATION,
  LEADERSHIP_RECORD_ANNOTATION,
  WAIT_ANNOTATION,
} from "../../src/api/annotations.ts";
import { Cluster, ExtensionBackupEntry, Infrastructure, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import {
  createReflector,
  Namespace,
  refOf,
  refTo,
  Secret,
  type KubeClient,
  type ObjectRef,
  type Reflector,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { newStateKey } from "../support/state-keys.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { shootRun } from "../support/shoot-run.ts";
import { notedGroup } from "../support/noted-waits.ts";

const log = createLogger({ name: "test", level: "silent" });
const extensions = "extensions.gardener.cloud/v1alpha1";
const theirs = { fieldManager: "somebody" };
let kube: KubeClient;
let waits: Waits;
let controllers: readonly Reflector<KubeObject>[];
let count = 0;
let run: ShootRun;
/** What Kubernetes' controllers of workloads see; they see nothing while it is false. */
let awake = true;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  const completer = { complete: async () => true, fail: async () => true };
  const real = createWaits({ client: kube, completer, signer: createSigner([newStateKey("seed-1")]), log });
  waits = { ...real, group: notedGroup };
  waits.start();
  await waits.synced();
  controllers = ["Deployment", "StatefulSet"].map((kind) =>
    createReflector(kube, { apiVersion: "apps/v1", kind }, { onEvent: ({ object }) => observe(object) }),
  );
  controllers.forEach((controller) => controller.start());
});
afterAll(async () => await Promise.all([waits.stop(), ...controllers.map((controller) => controller.stop())]));

beforeEach(async () => {
  const technicalID = `shoot--dev--left-${(count += 1)}`;
  run = shootRun({ technicalID, uid: `uid-${count}`, leadershipRecord: "left.dev.leadership.test" });
  const metadata = { name: technicalID, labels: { [ROLE_LABEL]: "shoot" } };
  await fenced(kube, run).apply({ apiVersion: "v1", kind: "Namespace", metadata });
});
afterEach(() => void (awake = true));

const fence = () => createNamespaceFence({ seedClient: kube, polling: { timeout: 1_000, period: 20 } });
const decommissioning = () =>
  createDecommissioning({ seedClient: kube, waits, polling: { timeout: 1_000, period: 20 } });
const flow = () => fenced(kube, run);
const later = (epoch = 2): ShootRun => ({ ...run, epoch });
const named = (apiVersion: string, kind: string, name: string): ObjectRef => ({
  ...{ apiVersion, kind, name },
  namespace: run.technicalID,
});
const namespaceOf = async () => (await kube.read(Namespace, { name: run.technicalID }))?.metadata;

describe("marking a namespace", () => {
  test("says who leads, and to which epoch a planned migration hands over", async () => {
    await fence().announceHandover(run);
    expect((await namespaceOf())?.annotations).toEqual({
      [EPOCH_ANNOTATION]: "1",
      [LEADERSHIP_RECORD_ANNOTATION]: "left.dev.leadership.test",
      [HANDOVER_ANNOTATION]: "2",
      [HANDOVER_RENEWED_ANNOTATION]: expect.any(String) as string,
    });
    await fence().announceLeader(run); // given up
    expect((await namespaceOf())?.annotations).toEqual({
      [EPOCH_ANNOTATION]: "1",
      [LEADERSHIP_RECORD_ANNOTATION]: "left.dev.leadership.test",
    });
  });

  test("is refused to a flow that comes late", async () => {
    await fence().raiseFence(later());
    await expect(fence().announceHandover(run)).rejects.toThrow(Superseded);
    expect((await namespaceOf())?.annotations).toEqual({ [EPOCH_ANNOTATION]: "2" });
  });
});

describe("raising the fence", () => {
  test("returns when late writes are refused, also those of the Cluster, and can be done again", async () => {
    await flow().apply(cluster());
    await fence().raiseFence(later());
    await fence().raiseFence(later());
    await expect(flow().apply(configMap("late"))).rejects.toThrow(Superseded);
    await expect(flow().apply(cluster())).rejects.toThrow(Superseded);
    await expect(fence().raiseFence(run)).rejects.toThrow(Superseded);
  });

  test("leaves what a planned migration has agreed with the seed's own fence", async () => {
    await fence().announceHandover(run);
    await fence().raiseFence(later());
    expect((await namespaceOf())?.annotations).toMatchObject({ [EPOCH_ANNOTATION]: "2", [HANDOVER_ANNOTATION]: "2" });
  });

  test("needs no namespace", async () => {
    await fence().raiseFence({ ...later(), technicalID: "shoot--dev--none" });
    await kube.remove(refTo(Namespace, { name: run.technicalID }));
    await fence().raiseFence(later());
  });

  test("fails where the seed does not refuse", async () => {
    const open: KubeClient = { ...kube, create: async (object) => object };
    const here = createNamespaceFence({ seedClient: open, polling: { timeout: 50, period: 10 } });
    await expect(here.raiseFence(later())).rejects.toThrow(
      /^cannot fence namespace .* of Seed seed-1: it still takes writes of epoch 1; the seed needs the policies/,
    );
  });
});

describe("stopping a component", () => {
  test("waits for each of its pods, and for no other pods", async () => {
    const selector = { app: "etcd-statefulset", role: "main" };
    await flow().apply(workload("StatefulSet", "etcd-main", selector));
    await flow().apply(workload("StatefulSet", "etcd-events", { app: "etcd-statefulset", role: "events" }));
    await pod("etcd-main-0", selector);
    await pod("etcd-events-0", { app: "etcd-statefulset", role: "events" });
    await pod("kube-apiserver-1", { app: "kubernetes", role: "apiserver" });

    const targets = await decommissioning().stopWorkload(later(), "etcd", "oldEtcd");

    expect(targets.map(({ name }) => name).toSorted()).toEqual(["etcd-events-0", "etcd-main-0"]);
    expect(targets[0]).toMatchObject({ kind: "Pod", until: "ended", namespace: run.technicalID });
    for (const target of targets) expect(waits.readiness(target).reached).toBe(false);
    expect(await replicasOf("StatefulSet", "etcd-main")).toBe(0);
    expect((await kube.read(named("v1", "Pod", "etcd-main-0")))?.metadata.annotations).toMatchObject({
      [WAIT_ANNOTATION]: "oldEtcd/wait of 2",
    });
    await kube.remove(named("v1", "Pod", "etcd-main-0"), { gracePeriodSeconds: 0 });
    await kube.remove(named("v1", "Pod", "etcd-events-0"), { gracePeriodSeconds: 0 });
    await eventually(() => expect(targets.every((target) => waits.readiness(target).reached)).toBe(true));
    expect(await decommissioning().stopWorkload(later(), "etcd", "oldEtcd")).toEqual([]);
  });

  test("is over when its containers have ended, whether its pods are gone or not", async () => {
    const selector = { app: "kubernetes", role: "apiserver" };
    await flow().apply(workload("StatefulSet", "etcd-main", selector));
    await pod("kube-apiserver-1", selector);
    const [target] = await decommissioning().stopWorkload(later(), "etcd", "oldEtcd");
    if (target === undefined) throw new Error("its pod is not waited for");
    expect(waits.readiness(target)).toEqual({ reached: false, message: "its containers run" });
    const ref = named("v1", "Pod", "kube-apiserver-1");
    await kube.patch(ref, { status: { phase: "Failed" } }, { subresource: "status" }); // as its kubelet does
    await eventually(() => expect(waits.readiness(target)).toEqual({ reached: true }));
    expect(await kube.read(ref)).toBeDefined();
    expect(await decommissioning().stopWorkload(later(), "etcd", "oldEtcd")).toEqual([]);
  });

  test("does not count pods before their controller has taken note", async () => {
    awake = false;
    await flow().apply(workload("Deployment", "kube-apiserver", { app: "kubernetes", role: "apiserver" }));
    await expect(decommissioning().stopWorkload(run, "kube-apiserver", "oldApiServer")).rejects.toThrow(
      /^cannot stop Deployment .*\/kube-apiserver: its controller has not seen the latest spec$/,
    );
    awake = true;
    await observe(await kube.read(named("apps/v1", "Deployment", "kube-apiserver")));
    const { metadata } = (await kube.read(named("apps/v1", "Deployment", "kube-apiserver"))) as KubeObject;
    const set = workload("ReplicaSet", "kube-apiserver-1", { app: "kubernetes", role: "apiserver" });
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: metadata.name, uid: metadata.uid ?? "" };
    await kube.create({ ...set, metadata: { ...set.metadata, ownerReferences: [owner] } }, theirs);
    await expect(decommissioning().stopWorkload(run, "kube-apiserver", "oldApiServer")).rejects.toThrow(
      /its ReplicaSet .*\/kube-apiserver-1 has not been scaled down yet$/,
    );
  });

  test("that does not exist is done at once, and a late flow stops nothing", async () => {
    expect(await decommissioning().stopWorkload(run, "kube-apiserver", "step")).toEqual([]);
    await flow().apply(workload("Deployment", "kube-apiserver", { role: "apiserver" }));
    await fence().raiseFence(later());
    await expect(decommissioning().stopWorkload(run, "kube-apiserver", "step")).rejects.toThrow(Superseded);
    expect(await replicasOf("Deployment", "kube-apiserver")).toBe(1);
  });
});

test("stopping everything leaves nothing that makes pods, and waits for those that there are", async () => {
  await flow().apply(workload("StatefulSet", "etcd-main", { role: "main" }));
  await kube.create(workload("Deployment", "machine-controller-manager", { app: "mcm" }), theirs);
  await kube.create(cronJob("etcd-backup"), theirs);
  await kube.create(job("running"), theirs);
  await kube.create(job("done"), theirs);
  const complete = { type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const done = {
    startTime: "2026-01-01T00:00:00Z",
    completionTime: "2026-01-01T00:00:01Z",
    succeeded: 1,
    conditions: [{ ...complete, type: "SuccessCriteriaMet" }, complete],
  };
  await kube.patch(named("batch/v1", "Job", "done"), { status: done }, { subresource: "status", ...theirs });
  await pod("etcd-main-0", { role: "main", [ROLE_LABEL]: "controlplane" });
  await pod("of-nobody", { app: "x" }, "");

  const targets = await decommissioning().stopWorkloads(later(), "workloads");

  expect(targets.map(({ name }) => name)).toEqual(["etcd-main-0"]);
  expect((await kube.read(named("v1", "Pod", "etcd-main-0")))?.metadata.deletionTimestamp).toBeDefined();
  expect(await kube.read(named("v1", "Pod", "of-nobody"))).toBeUndefined();
  expect(await replicasOf("StatefulSet", "etcd-main")).toBe(0);
  expect(await replicasOf("Deployment", "machine-controller-manager")).toBe(0);
  expect(await kube.read(named("batch/v1", "CronJob", "etcd-backup"))).toMatchObject({ spec: { suspend: true } });
  expect(await kube.read(named("batch/v1", "Job", "running"))).toMatchObject({ spec: { suspend: true } });
  expect(await kube.read(named("batch/v1", "Job", "done"))).toMatchObject({ spec: { suspend: false } });
  await kube.remove(named("v1", "Pod", "etcd-main-0"), { gracePeriodSeconds: 0 });
  expect(await decommissioning().stopWorkloads(later(), "workloads")).toEqual([]);
});

describe("abandoning extension objects", () => {
  const finalizers = ["extensions.gardener.cloud/infrastructure"];
  const infrastructure = (leadership?: object): KubeObject => ({
    apiVersion: extensions,
    kind: "Infrastructure",
    metadata: { name: "infra", namespace: run.technicalID },
    spec: {
      type: "local",
      region: "local",
      secretRef: { name: "cloudprovider", namespace: run.technicalID },
      ...(leadership && { leadership }),
    },
  });
  const apply = async (object: KubeObject) => {
    await flow().apply(object);
    return kube.patch(refOf(object), { metadata: { finalizers } }, theirs);
  };
  const leadership = (epoch: number) => ({ record: "r", value: "seed-1", leaseSeconds: 60, epoch });

  test("takes them away without any deletion that a controller could see", async () => {
    await flow().apply(cluster());
    await apply(infrastructure(leadership(1)));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "held", namespace: run.technicalID } };
    await kube.create(
      { ...secret, metadata: { ...secret.metadata, finalizers: ["machine.sapcloud.io/held"] } },
      theirs,
    );
    const entry = `${run.technicalID}--${run.uid}`;
    const credentials = (name: string) => refTo(Secret, { namespace: "garden", name });
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
    for (const { name, namespace, ...type } of [entry, `${entry}-2`].map((one) => credentials(`entry-${one}`)))
      await kube.create({ ...type, metadata: { name, namespace } }, theirs);
    await apply({
      apiVersion: extensions,
      kind: "BackupEntry",
      metadata: { name: entry },
      spec: { type: "local", region: "local", bucketName: "b", secretRef: { name: "b", namespace: "garden" } },
    });
    const deleting: string[] = [];
    const watch = createReflector(kube, Infrastructure, {
      namespace: run.technicalID,
      onEvent: ({ type, object }) =>
        void (type !== "deleted" && object.metadata.deletionTimestamp && deleting.push("!")),
    });
    watch.start();
    await watch.synced();

    await fence().raiseFence(later());
    await decommissioning().abandonExtensions(later());
    await decommissioning().abandonExtensions(later());

    await eventually(() => expect(watch.list()).toEqual([]));
    await watch.stop();
    expect(deleting).toEqual([]);
    expect(await kube.read(ExtensionBackupEntry, { name: entry })).toBeUndefined();
    expect(await kube.read(credentials(`entry-${entry}`))).toBeUndefined();
    expect(await kube.read(credentials(`entry-${entry}-2`))).toBeDefined();
    expect((await kube.read(named("v1", "Secret", "held")))?.metadata.finalizers).toBeUndefined();
    expect(await kube.read(Cluster, { name: run.technicalID })).toMatchObject({
      spec: { shoot: { status: { lastOperation: { state: "Failed" } } } },
    });
  });

  test("does not delete what a controller lays hold of again meanwhile", async () => {
    await apply(infrastructure());
    let holds = 0;
    const contested: KubeClient = {
      ...kube,
      async remove(ref, o) {
        if (ref.kind === "Infrastructure" && (holds += 1) <= 2)
          await kube.patch(ref, { metadata: { finalizers } }, theirs);
        await kube.remove(ref, o);
      },
    };
    await createDecommissioning({ seedClient: contested, waits }).abandonExtensions(run);
    expect(holds).toBe(3);
    expect(await kube.read(refOf(infrastructure()))).toBeUndefined();
  });

  test("frees what is being deleted already", async () => {
    await apply(infrastructure());
    await flow().remove(refOf(infrastructure()));
    await decommissioning().abandonExtensions(run);
    expect(await kube.read(refOf(infrastructure()))).toBeUndefined();
  });

  test("is refused while workloads run, in the seed that leads, and to a late flow", async () => {
    const before = await apply(infrastructure(leadership(2)));
    const secret = refTo(Secret, { namespace: "garden", name: `entry-${run.technicalID}--${run.uid}` });
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
    await kube.create(
      { apiVersion: "v1", kind: "Secret", metadata: { name: secret.name, namespace: "garden" } },
      theirs,
    );
    await expect(decommissioning().abandonExtensions(later())).rejects.toThrow(/infra says that Seed seed-1 leads$/);
    await expect(decommissioning().abandonExtensions({ ...later(1) })).rejects.toThrow(Superseded);
    await kube.create(workload("Deployment", "mcm", { app: "mcm" }), theirs);
    await expect(decommissioning().abandonExtensions(later(3))).rejects.toThrow(/Deployment .*\/mcm is not stopped$/);
    expect((await kube.read(refOf(before)))?.metadata).toMatchObject({ finalizers, uid: before.metadata.uid });
    expect(await kube.read(secret)).toBeDefined();
  });
});

/** What Kubernetes' own controllers say once they have seen a spec. */
async function observe(object: KubeObject | undefined): Promise<void> {
  const { metadata, status } = (object ?? {}) as KubeObject & { status?: { observedGeneration?: number } };
  if (!awake || object === undefined || status?.observedGeneration === metadata.generation) return;
  const observed = { status: { observedGeneration: metadata.generation } };
  await kube.patch(refOf(object), observed, { subresource: "status", ...theirs }).catch(() => {});
}

const replicasOf = async (kind: string, name: string) =>
  ((await kube.read(named("apps/v1", kind, name)))?.["spec"] as { replicas?: number }).replicas;

const cluster = () => ({
  apiVersion: extensions,
  kind: "Cluster",
  metadata: { name: run.technicalID },
  spec: { cloudProfile: {}, seed: {}, shoot: { metadata: { name: "local" } } },
});

const configMap = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: run.technicalID },
});

const podSpec = { containers: [{ name: "main", image: "main" }], terminationGracePeriodSeconds: 30 };

function workload(kind: string, name: string, labels: Record<string, string>): KubeObject {
  const template = { metadata: { labels }, spec: podSpec };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  const metadata = { name, namespace: run.technicalID };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata,
    spec: kind === "StatefulSet" ? { ...spec, serviceName: name } : spec,
  };
}

const jobSpec = { template: { spec: { ...podSpec, restartPolicy: "Never" } } };
const job = (name: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, namespace: run.technicalID },
  spec: { ...jobSpec, suspend: false },
});
const cronJob = (name: string) => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name, namespace: run.technicalID },
  spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec } },
});

/** A pod on a node, which is gone only when its kubelet says so; without a node, at once. */
async function pod(name: string, labels: Record<string, string>, nodeName = "node"): Promise<void> {
  const metadata = { name, namespace: run.technicalID, labels: { [ROLE_LABEL]: "controlplane", ...labels } };
  const spec = { ...podSpec, ...(nodeName && { nodeName }) };
  await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec }, theirs);
}

import { beforeEach, describe, expect } from "vitest";
import type { Cluster, KubeObject, Worker } from "../../src/api/index.ts";
import { MACHINE_POOL_LABEL, POOL_LABEL } from "../../src/api/labels.ts";
import type { ActuatorContext } from "../../src/extension/index.ts";
import { Namespace, Node, Pod, refOf, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import type { Machines } from "../../src/local/machine/machines.ts";
import { createLogger } from "../../src/log.ts";
import { createKeyedMutex } from "../../src/provider-local/keyed-mutex.ts";
import { retireNode } from "../../src/provider-local/worker/nodes.ts";
import { createWorkerActuator } from "../../src/provider-local/worker/worker.ts";
import { test as it } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { made, namespace, pool } from "../support/worker-pools.ts";

/** The API server is the Shoot's, without controllers and kubelets: what these would write, the tests write. */
let kube: KubeClient;
const log = createLogger({ name: "test", level: "silent" });
const { signal } = new AbortController();

it.beforeAll(({ cluster }) => {
  kube = cluster.client;
});

const nodeOf = (name: string) => kube.read(Node, { name });
const podOf = (name: string) => kube.read(Pod, { namespace, name });
const createNode = (name: string, labels: Record<string, string> = { [POOL_LABEL]: "pool" }) =>
  kube.create({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });

describe("a machine that goes", () => {
  const access = { open: async () => kube, signal, log };
  let removed: string[];

  beforeEach(async () => {
    removed = [];
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await createNode("going");
    await createPod("app", { app: "guarded" });
    await createPod("agent", {}, [
      { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "1", controller: true },
    ]);
    await allow(0);
  });
  const retire = (timeout?: number) => retireNode(access, "going", async () => void removed.push("going"), timeout);

  it("waits for a pod until its disruption budget lets it go, and takes its Node with it", async () => {
    const retired = retire();
    await eventually(async () => expect(await nodeOf("going")).toMatchObject({ spec: { unschedulable: true } }));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await podOf("app")).toBeDefined();
    expect(removed).toEqual([]);

    await allow(1);
    await retired;
    expect(await podOf("app")).toBeUndefined();
    expect(await podOf("agent")).toBeDefined();
    expect(removed).toEqual(["going"]);
    expect(await nodeOf("going")).toBeUndefined();
  });

  it("waits for each pod as long as one is in a namespace that is being deleted, which takes no evictions", async () => {
    const leaving = await createLeaving();
    const retired = retire();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(removed).toEqual([]);

    await allow(1);
    await eventually(async () => expect(await podOf("app")).toBeUndefined());
    expect(removed).toEqual([]);
    await kube.remove(leaving, { gracePeriodSeconds: 0 });
    await retired;
    expect(removed).toEqual(["going"]);
  });

  it("waits for no pod longer than its time", async () => {
    await retire(-1);
    expect(await podOf("app")).toBeDefined();
    expect(removed).toEqual(["going"]);
    expect(await nodeOf("going")).toBeUndefined();
  });

  it("leaves a Node alone that another machine has registered by that name meanwhile", async () => {
    const replace = async () => {
      await kube.remove(refTo(Node, { name: "going" }));
      await createNode("going");
    };
    await retireNode(access, "going", replace, -1);
    expect(await nodeOf("going")).toMatchObject({ metadata: { name: "going" } });
    await kube.remove(refTo(Node, { name: "going" }));
  });

  /** A pod in a namespace that is being deleted, which no controller takes away. */
  async function createLeaving() {
    const metadata = { name: "app", namespace: "leaving" };
    const spec = { nodeName: "going", terminationGracePeriodSeconds: 0, containers: [{ name: "app", image: "app" }] };
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "leaving" } });
    await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec });
    await kube.remove(refTo(Namespace, { name: "leaving" }));
    return refTo(Pod, { namespace: "leaving", name: "app" });
  }

  async function createPod(name: string, labels: Record<string, string>, ownerReferences: Owner[] = []) {
    const spec = { nodeName: "going", terminationGracePeriodSeconds: 0, containers: [{ name: "app", image: "app" }] };
    await kube.remove(refTo(Pod, { namespace, name }), { gracePeriodSeconds: 0 });
    await kube.create({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels, ownerReferences }, spec });
    const conditions = [{ type: "Ready", status: "True" }];
    await kube.patch(refTo(Pod, { namespace, name }), { status: { phase: "Running", conditions } }, status);
  }

  type Owner = NonNullable<KubeObject["metadata"]["ownerReferences"]>[number];

  /** As the controller of disruption budgets would say it. */
  async function allow(disruptionsAllowed: number) {
    const budget: KubeObject = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "guard", namespace },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: "guarded" } } },
    };
    const { metadata } = await kube.apply(budget);
    const counts = { currentHealthy: 1, desiredHealthy: 0, expectedPods: 1, disruptionsAllowed };
    const { generation: observedGeneration } = metadata;
    await kube.patch(refOf(budget), { status: { ...counts, observedGeneration } }, status);
  }
});

describe("the Nodes of a Worker", () => {
  const small = pool({ minimum: 1 });
  const machines = made(small, 1).map((one) => ({
    ...one,
    running: true,
    labels: { ...one.labels, [MACHINE_POOL_LABEL]: small.name },
  }));
  const [present = ""] = machines.map(({ name }) => name);
  const worker = { metadata: { name: "worker", namespace }, spec: { pools: [small] } } as unknown as Worker;
  const context = { client: kube, log, signal, check: () => {}, saveStatus: async () => {} } as unknown;
  const actuatorOf = (open: () => Promise<KubeClient>, present: readonly { readonly name: string }[]) => {
    const left = new Map(present.map((machine) => [machine.name, machine]));
    const list = async () => [...left.values()];
    const remove = async (name: string) => void left.delete(name);
    const shoots = { open, forget: async () => {}, close: async () => {} };
    const host = { list, remove } as unknown as Machines;
    return createWorkerActuator({ machines: host, shoots, mutex: createKeyedMutex() });
  };
  const reconcile = async (open: () => Promise<KubeClient>, hibernation = { enabled: false }) => {
    const cluster = { spec: { shoot: { spec: { hibernation } } } } as unknown as Cluster;
    const there = hibernation.enabled ? [] : machines;
    await actuatorOf(open, there).reconcile(worker, cluster, { ...(context as ActuatorContext), client: kube });
  };
  const removeWorker = (open: () => Promise<KubeClient>) =>
    actuatorOf(open, machines).delete(worker, {} as Cluster, context as ActuatorContext);

  beforeEach(async () => {
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const metadata = { name: small.userDataSecretRef.name ?? "", namespace };
    await kube.apply<Secret>({ ...typeMeta(Secret), metadata, data: { cloud_config: btoa("{}") } });
    for (const { metadata } of await kube.list(Node)) await kube.remove(refTo(Node, { name: metadata.name }));
    await createNode(present);
    await createNode("left-behind");
    await createNode("of-the-user", {});
  });
  const nodes = async () => (await kube.list(Node)).map(({ metadata }) => metadata.name).toSorted();

  it("removes the Node that the removal of its machine has left behind, and no other", async () => {
    await reconcile(async () => kube);
    expect(await nodes()).toEqual(["of-the-user", present].toSorted());
  });

  it("removes every Node of its pools when the Worker goes, and none of the user's", async () => {
    await removeWorker(async () => kube);
    expect(await nodes()).toEqual(["of-the-user"]);
  });

  it("lets the Worker go where the Shoot's API server does not answer", async () => {
    await removeWorker(() => Promise.reject(new Error("nothing answers")));
    expect(await nodes()).toHaveLength(3);
  });

  it("succeeds where the Shoot's API server does not answer, and does not ask that of one which sleeps", async () => {
    const asked: string[] = [];
    const silent = async (): Promise<never> => {
      asked.push(namespace);
      throw new Error("nothing answers");
    };
    await reconcile(silent);
    expect(asked).toEqual([namespace]);
    await reconcile(silent, { enabled: true });
    expect(asked).toEqual([namespace]);
    expect(await nodes()).toHaveLength(3);
  });
});

const status = { subresource: "status" } as const;

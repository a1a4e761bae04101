import { beforeEach, describe, expect } from "vitest";
import type { Cluster, Worker } from "../../src/api/index.ts";
import { MACHINE_POOL_LABEL, POOL_LABEL } from "../../src/api/labels.ts";
import type { ActuatorContext } from "../../src/extension/index.ts";
import { Node, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import type { Machines } from "../../src/local/machine/machines.ts";
import { createLogger } from "../../src/log.ts";
import { createKeyedMutex } from "../../src/provider-local/keyed-mutex.ts";
import { createWorkerActuator } from "../../src/provider-local/worker/worker.ts";
import { test as it } from "../support/cluster-test.ts";
import { made, namespace, pool } from "../support/worker-pools.ts";

/** The API server is the Shoot's, without controllers and kubelets: what these would write, the tests write. */
let kube: KubeClient;
const log = createLogger({ name: "test", level: "silent" });
const { signal } = new AbortController();

it.beforeAll(({ cluster }) => {
  kube = cluster.client;
});

const createNode = (name: string, labels: Record<string, string> = { [POOL_LABEL]: "pool" }) =>
  kube.create({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });

describe("reconciling a Worker", () => {
  const small = pool({ minimum: 1 });
  const machines = made(small, 1).map((one) => ({
    ...one,
    running: true,
    labels: { ...one.labels, [MACHINE_POOL_LABEL]: small.name },
  }));
  const [present = ""] = machines.map(({ name }) => name);
  const reconcile = async (open: () => Promise<KubeClient>, hibernation = { enabled: false }) => {
    const list = async () => (hibernation.enabled ? [] : machines);
    const shoots = { open, forget: async () => {}, close: async () => {} };
    const actuator = createWorkerActuator({
      machines: { list } as unknown as Machines,
      shoots,
      mutex: createKeyedMutex(),
    });
    const worker = { metadata: { name: "worker", namespace }, spec: { pools: [small] } } as unknown as Worker;
    const cluster = { spec: { shoot: { spec: { hibernation } } } } as unknown as Cluster;
    const context = { client: kube, log, signal, check: () => {}, saveStatus: async () => {} };
    await actuator.reconcile(worker, cluster, context as unknown as ActuatorContext);
  };

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

import { CompleteAsyncError } from "@temporalio/activity";
import { beforeEach, describe, expect } from "vitest";
import type { WaitTarget } from "../../src/activities/index.ts";
import { createNodeWaits } from "../../src/activities/waits/node-waits.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { Deployment, Lease, Node, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { shootRun } from "../support/shoot-run.ts";

/** The seed is played by one object; the Shoot's API server is real. */
let plane: ControlPlane;
let shootClient: KubeClient;
let completed: number;

it.beforeAll(async ({ cluster }) => {
  plane = cluster;
  shootClient = plane.client;
  await shootClient
    .create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-node-lease" } })
    .catch(() => {});
  await shootClient.create({ ...node, metadata: { name: "one", labels: { "worker.gardener.cloud/pool": "worker" } } });
  const conditions = [{ type: "Ready", status: "True" }];
  await shootClient.patch(refTo(Node, { name: "one" }), { status: { conditions } }, { subresource: "status" });
});
beforeEach(async () => {
  completed = 0;
  await shootClient.remove({ ...lease, namespace: "kube-node-lease", name: "one" });
});

describe("waiting for nodes", () => {
  it("is over at once where the nodes are ready", async () => {
    await expect(wait(shootRun())).resolves.toBeUndefined();
    const back = { source: "seed-1", destination: "seed-1", takeover: false, returning: true } as const;
    await expect(wait(shootRun({ operation: "Restore", migration: back }))).resolves.toBeUndefined();
  });

  it("goes on while a Shoot that is made lacks nodes, and is over where one that is reconciled has lost some", async () => {
    await expect(wait(shootRun({ operation: "Create" }), 2)).rejects.toThrow(CompleteAsyncError);
    await expect(wait(shootRun({ operation: "Reconcile" }), 2)).resolves.toBeUndefined();
  });

  it("goes on while CoreDNS runs on no node, and is over when it runs on one", async () => {
    const metadata = { namespace: "kube-system", name: "coredns", labels: { app: "coredns" } };
    const pods = { metadata, spec: { containers: [{ name: "coredns", image: "coredns" }] } };
    const spec = { replicas: 2, selector: { matchLabels: { app: "coredns" } }, template: pods };
    const made = await shootClient.create<KubeObject>({ ...typeMeta(Deployment), metadata, spec });
    const { generation } = made.metadata;
    const report = (status: object) =>
      shootClient.patch(
        refTo(Deployment, metadata),
        { status: { observedGeneration: generation, replicas: 2, ...status } },
        { subresource: "status" },
      );
    await report({ updatedReplicas: 2 });
    await expect(wait(shootRun())).rejects.toThrow(CompleteAsyncError);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(completed).toBe(0);
    await report({ updatedReplicas: 2, readyReplicas: 1 });
    await eventually(() => expect(completed).toBe(1));
    await expect(wait(shootRun())).resolves.toBeUndefined();
    await shootClient.remove(refTo(Deployment, metadata));
  });

  it("of a Shoot that has moved counts nodes that keep no lease", async () => {
    await expect(wait(shootRun({ operation: "Restore", migration: moved }))).resolves.toBeUndefined();
  });

  it("of a Shoot that has moved is over when they have renewed their leases: the old ones came with its etcd", async () => {
    await shootClient.create({ ...lease, metadata: { name: "one", namespace: "kube-node-lease" }, spec: {} });
    await expect(wait(shootRun({ operation: "Restore", migration: moved }))).rejects.toThrow(CompleteAsyncError);
    const taken = { ...moved, takeover: true };
    await expect(wait(shootRun({ operation: "Restore", migration: taken }))).resolves.toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(completed).toBe(0);
    const renewed = { spec: { holderIdentity: "one", renewTime: "2026-11-21T09:00:00.000000Z" } };
    await shootClient.patch(refTo(Lease, { namespace: "kube-node-lease", name: "one" }), renewed);
    await eventually(() => expect(completed).toBe(1));
  });
});

const moved = { source: "seed-1", destination: "seed-2", takeover: false };
const node = { apiVersion: "v1", kind: "Node" } as const;
const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" } as const;
const target: WaitTarget = {
  ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Worker", name: "local", until: "nodesReady" },
  ...{ severeAfter: 600_000, deadline: 600_000 },
};

function wait(run: ReturnType<typeof shootRun>, minimum = 1): Promise<void> {
  const worker = { spec: { pools: [{ name: "worker", minimum }] } };
  const waits = createNodeWaits({
    seedClient: { read: async () => worker } as unknown as KubeClient,
    shootClients: { get: async () => shootClient },
    completer: { complete: async () => (completed += 1) > 0 },
    log: createLogger({ name: "test", level: "silent" }),
    asking: () => ({
      workflowExecution: { workflowId: "w", runId: "r" },
      activityId: "nodesReady/wait",
      startToCloseTimeoutMs: 30_000,
    }),
  });
  return waits.wait(run, target);
}

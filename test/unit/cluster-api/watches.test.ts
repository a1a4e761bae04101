import { once } from "node:events";
import { expect, test } from "vitest";
import { Cluster, MachinePool } from "../../../src/api/cluster-api/index.ts";
import { controllers } from "../../../src/cluster-api/controllers.ts";
import { keepTrust } from "../../../src/cluster-api/endpoint/trust.ts";
import { essentialCluster, onlyKubeconfig, withoutLastApplied, withoutNodes } from "../../../src/cluster-api/kept.ts";
import { createWatches } from "../../../src/cluster-api/watches.ts";
import { renderKubeconfig, type KubeClient, type Secret, type TypeRef } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { clusterOf, poolOf } from "../../support/cluster-api-objects.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });

/** An API server without objects, which notes what is watched. */
function emptyServer(): { readonly client: KubeClient; readonly watched: string[] } {
  const watched: string[] = [];
  const client = {
    server: "https://127.0.0.1",
    snapshot: async () => ({ items: [], resourceVersion: "1" }),
    async *watch(
      { kind }: TypeRef,
      o: { readonly signal: AbortSignal; readonly fieldSelector?: string; readonly labelSelector?: string },
    ) {
      watched.push(kind === "Secret" ? `${kind} ${o.fieldSelector ?? o.labelSelector}` : kind);
      if (!o.signal.aborted) await once(o.signal, "abort");
      yield* [];
    },
  };
  return { client: client as unknown as KubeClient, watched };
}

test("the controllers of one term watch no kind twice", async () => {
  const { client, watched } = emptyServer();
  const deps = { management: client, garden: client, events: { record() {}, settled: async () => {} }, log };
  const watches = createWatches(deps);
  const parts = controllers.map((create) => create({ ...deps, watches }));
  for (const part of parts) part.start();
  await eventually(async () => expect(watched).toContain(MachinePool.kind));
  await eventually(async () => expect(watched).toContain(Cluster.kind));
  expect(watched.toSorted()).toEqual([...new Set(watched)].toSorted());
  expect(watched).toContain("Secret type=cluster.x-k8s.io/secret");
  await Promise.all(parts.map((part) => part.stop()));
});

const long = "x".repeat(10_000);
const bytesOf = (object: unknown): number => JSON.stringify(object).length;

test("of a Cluster a controller remembers what decides, and none of what is long", () => {
  const full: Cluster = {
    ...clusterOf("one", {
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "ShootCluster", name: "one" },
      controlPlaneEndpoint: { host: "api.one.test", port: 443 },
      topology: { classRef: { name: "small" }, version: "v1.34.4", variables: [long] } as Cluster["spec"]["topology"],
    }),
    status: {
      initialization: { infrastructureProvisioned: true },
      conditions: ["InfrastructureReady", "Available"].map((type) => ({
        ...{ type, status: "True", reason: "Ready", message: type === "Available" ? long : "" },
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
    },
  };
  const annotations = { "cluster.x-k8s.io/paused": "", "kubectl.kubernetes.io/last-applied-configuration": long };
  const kept = essentialCluster({ ...full, metadata: { ...full.metadata, annotations } });
  expect(kept.spec).toMatchObject({ ...full.spec, topology: { classRef: { name: "small" }, version: "v1.34.4" } });
  expect(kept.status?.initialization).toEqual({ infrastructureProvisioned: true });
  expect(kept.status?.conditions?.map(({ type }) => type)).toEqual(["InfrastructureReady"]);
  expect(kept.metadata.annotations).toEqual({ "cluster.x-k8s.io/paused": "" });
  expect(bytesOf(kept)).toBeLessThan(1_000);
});

test("of a Secret of Cluster API's a controller remembers neither key nor credentials, and sees that its value is another", () => {
  const secretOf = (token: string, name = "one-kubeconfig"): Secret => ({
    ...{ apiVersion: "v1", kind: "Secret", type: "cluster.x-k8s.io/secret" },
    metadata: { name, namespace: "fleet", labels: { "cluster.x-k8s.io/cluster-name": "one" } },
    data: {
      value: Buffer.from(renderKubeconfig({ server: "https://api.one.test", ca: "CA", token })).toString("base64"),
    },
  });
  const kept = keepTrust(secretOf("a-secret-token"));
  expect(kept.trust).toMatchObject({ ca: "CA", server: { host: "api.one.test" } });
  expect(kept.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "one" });
  expect(JSON.stringify(kept)).not.toContain("a-secret-token");
  expect(JSON.stringify(kept)).not.toContain(secretOf("a-secret-token").data?.["value"]);
  expect(keepTrust(secretOf("another")).digest).not.toBe(kept.digest);
  expect(keepTrust(secretOf("a-secret-token")).digest).toBe(kept.digest);
  expect(bytesOf(keepTrust(secretOf(long, "one-ca")))).toBeLessThan(200);
});

test("of a MachinePool, a Shoot's kubeconfig and what kubectl applied a controller remembers no more than it reads", () => {
  const { machinePool } = poolOf("one", "a");
  const nodeRefs = Array.from({ length: 100 }, () => ({ name: long }));
  const counted = withoutNodes({ ...machinePool, status: { replicas: 3, nodeRefs } });
  expect(counted).toEqual({ ...machinePool, status: { replicas: 3 } });
  const metadata = {
    ...{ name: "one.kubeconfig", namespace: "garden-dev" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": long, kept: "yes" },
  };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data: { kubeconfig: "a2s=", other: long } } as const;
  expect(onlyKubeconfig(secret)).toEqual({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "one.kubeconfig", namespace: "garden-dev" } },
    data: { kubeconfig: "a2s=" },
  });
  expect(withoutLastApplied(secret).metadata.annotations).toEqual({ kept: "yes" });
});

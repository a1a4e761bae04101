import { once } from "node:events";
import { expect, test } from "vitest";
import { CLUSTER_NAME_LABEL, ShootCluster, type Condition } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { SHOOT_FINALIZER } from "../../../src/api/names.ts";
import { createShootProvider } from "../../../src/cluster-api/shoot-provider/provider.ts";
import { KubeError, typeMeta, type KubeClient, type TypeRef } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "../../support/cluster-api-objects.ts";
import { eventually } from "../../support/eventually.ts";

/** An API server with these objects, or one that never answers; it notes what is said in conditions, by kind and type. */
function serverOf(objects: readonly KubeObject[] | "away") {
  const said = new Map<string, Pick<Condition, "status" | "reason">>();
  const lost = () => new KubeError("unreachable", { status: 0, reason: "Unreachable", retryable: true });
  const client = {
    server: "https://127.0.0.1",
    get: () => Promise.reject(lost()),
    async snapshot({ kind }: TypeRef) {
      if (objects === "away") throw lost();
      const items = objects.filter((one) => one.kind === kind);
      return {
        items: items.map((one) => ({ ...one, metadata: { ...one.metadata, resourceVersion: "1" } })),
        resourceVersion: "1",
      };
    },
    async *watch(_: TypeRef, { signal }: { readonly signal: AbortSignal }) {
      if (!signal.aborted) await once(signal, "abort");
      yield* [];
    },
    async patch({ kind }: TypeRef, { status }: { readonly status?: { readonly conditions?: readonly Condition[] } }) {
      for (const { type, status: is, reason } of status?.conditions ?? [])
        said.set(`${kind} ${type}`, { status: is, reason });
    },
  };
  return { client: client as unknown as KubeClient, said };
}

test("a leader that begins while the garden is away sees to what needs no garden, and says of the rest that it waits", async () => {
  const labels = { [CLUSTER_NAME_LABEL]: "one" };
  const infrastructureRef = infrastructureRefOf("one");
  const controlPlane = controlPlaneOf("one");
  const { machinePool, infrastructure: pool } = poolOf("one", "leaving");
  const management = serverOf([
    clusterOf("one", { infrastructureRef }),
    { ...controlPlane, metadata: { ...controlPlane.metadata, labels } },
    { ...typeMeta(ShootCluster), metadata: { ...controlPlane.metadata, labels } },
    machinePool,
    {
      ...pool,
      metadata: { ...pool.metadata, labels, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [SHOOT_FINALIZER] },
    },
  ]);
  const log = createLogger({ name: "test", level: "silent" });
  const events = { record() {}, settled: async () => {} };
  const deps = { management: management.client, garden: serverOf("away").client, events, log };
  const provider = createShootProvider(deps);
  provider.start();
  try {
    await eventually(() => {
      expect(management.said.get("ShootCluster Ready")).toEqual({ status: "True", reason: "Ready" });
      const synced = management.said.get("ShootControlPlane ShootSynced");
      expect(synced).toEqual({ status: "Unknown", reason: "GardenUnreachable" });
      expect(management.said.get("ShootMachinePool Ready")).toMatchObject({ reason: "GardenUnreachable" });
    });
  } finally {
    await provider.stop();
  }
});

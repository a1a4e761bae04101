import { Cluster, type ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { generatedLabels, originOf } from "../../../src/cluster-api/endpoint/generated.ts";
import type { Seen } from "../../../src/cluster-api/endpoint/reconcile.ts";
import type { EndpointWork } from "../../../src/cluster-api/endpoint/work.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import type { Fault } from "./run.ts";
import type { World } from "./world.ts";

/** Ways to break the controller that histories have to find, by what it does then. */
export const faults: Readonly<Record<string, Fault>> = {
  "binds no write to what it has seen": calls((client) => ({
    patch: (ref, patch, o) => client.patch(ref, unbound(patch as KubeObject), o),
    applyStatus: (object, o) => client.applyStatus(unbound(object), o),
  })),
  "goes by its caches only": {
    work: (work, world) => ({ ...work, client: fromCaches(unboundClient(work.client), world) }),
  },
  "takes generated objects for a third party's": endpoints((one) => withMeta(one, { labels: {} })),
  "takes an edited object for a generated one": endpoints((one) => {
    const origin = one.metadata.labels?.["perennial.dev/generated"] === "user" ? "user" : "provider";
    const isMarked = "perennial.dev/generated" in (one.metadata.labels ?? {});
    const labels = { ...one.metadata.labels, ...generatedLabels(origin, one.spec) };
    return isMarked && originOf(one) === undefined ? withMeta(one, { labels }) : one;
  }),
  "goes by names where it should by age": endpoints((one) =>
    withMeta(one, { creationTimestamp: "2026-01-01T00:00:00Z" }),
  ),
  "does not look at owners": endpoints((one) =>
    withMeta(one, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "n" }] }),
  ),
  "lets objects win that leave": endpoints((one) => withMeta(one, { deletionTimestamp: undefined })),
  "takes what a former Cluster has left for its own": {
    work: (work, world) => ({ ...work, providers: { read: async () => ({ infrastructure: former(world) }) } }),
  },
  "does not see pauses": {
    seen: (seen) => ({ ...seen, cluster: seen.cluster && unpaused(seen.cluster) }),
    ...calls((client) => ({
      read: (async (...of: Parameters<KubeClient["read"]>) => {
        const found = await client.read(...of);
        return found && unpaused(found);
      }) as KubeClient["read"],
    })),
  },
  "empties the field before it fills it": calls((client) => ({
    async patch(ref, patch, o) {
      const { spec } = patch as { readonly spec?: object };
      if (spec && "controlPlaneEndpoint" in spec) await client.patch(ref, { spec: { controlPlaneEndpoint: null } }, o);
      return await client.patch(ref, unbound(patch as KubeObject), o);
    },
  })),
  "generates nothing": { seen: (seen) => ({ ...seen, generates: false }) },
  "says nothing of losers": { seen: (seen) => ({ ...seen, endpoints: seen.endpoints.slice(0, 1) }) },
  "gives no labels": calls((client) => ({
    patch: async (ref, patch, o) => {
      const { labels: _, ...metadata } = (patch as KubeObject).metadata;
      return await client.patch(ref, { ...patch, metadata }, o);
    },
  })),
  "writes once more what stands there": calls((client) => ({
    async patch(ref, patch, o) {
      const written = await client.patch(ref, patch, o);
      const { spec } = patch as { readonly spec?: object };
      if (spec === undefined || !("controlPlaneEndpoint" in spec)) return written;
      const other = { spec: { controlPlaneEndpoint: { host: "z.example.com", port: 443 } } };
      await client.patch(ref, other, o);
      return await client.patch(ref, unbound(patch as KubeObject), o);
    },
  })),
};

function calls(change: (client: KubeClient) => Partial<KubeClient>): Fault {
  return { work: (work: EndpointWork) => ({ ...work, client: { ...work.client, ...change(work.client) } }) };
}

function endpoints(change: (endpoint: ClusterEndpoint) => ClusterEndpoint): Fault {
  return { seen: (seen: Seen) => ({ ...seen, endpoints: seen.endpoints.map(change) }) };
}

const withMeta = <T extends KubeObject>(object: T, metadata: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

const unbound = <T extends KubeObject>(patch: T): T => withMeta(patch, { uid: undefined, resourceVersion: undefined });

const unboundClient = (client: KubeClient): KubeClient => ({
  ...client,
  patch: (ref, patch, o) => client.patch(ref, unbound(patch as KubeObject), o),
});

function fromCaches(client: KubeClient, { cache }: World): KubeClient {
  const read = async (of: { readonly kind: string }) => (of.kind === Cluster.kind ? cache.cluster : undefined);
  return { ...client, read };
}

const former = (world: World): KubeObject => {
  const owners = world.cache.endpoints.flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  const uid = owners.find((one) => !world.exists(one.uid))?.uid ?? owners[0]?.uid ?? "";
  return { apiVersion: "infrastructure.cluster.x-k8s.io/v1", kind: "FooCluster", metadata: { name: "foo", uid } };
};

function unpaused<T extends KubeObject>(object: T): T {
  const { paused: _, ...spec } = { paused: false, ...(object["spec"] as object) };
  return { ...object, spec };
}

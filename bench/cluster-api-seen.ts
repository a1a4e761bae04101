import { performance } from "node:perf_hooks";
import { Cluster, ClusterEndpoint } from "../src/api/cluster-api/index.ts";
import { ENDPOINT_READY_CONDITION } from "../src/api/names.ts";
import { createReflector, type KubeClient } from "../src/kube/index.ts";

/** What watches have seen of Clusters and their ClusterEndpoints: to ask costs the API server nothing, however many there are. */
export interface SeenClusters {
  /** Resolves when the Cluster of that name has its endpoint, with the time at which it was seen. */
  has(name: string): Promise<number>;
  /** How many Clusters are told whether their endpoint is ready. */
  told(): number;
  /** How many ClusterEndpoints there are. */
  objects(): number;
  stop(): Promise<void>;
}

/** Watches all of them. */
export function watchClusters(client: KubeClient): SeenClusters {
  const waiting = new Map<string, PromiseWithResolvers<number>>();
  const of = (name: string) => {
    const found = waiting.get(name) ?? Promise.withResolvers<number>();
    waiting.set(name, found);
    return found;
  };
  const told = new Set<string>();
  const clusters = createReflector(client, Cluster, {
    keep: ({ apiVersion, kind, metadata: { name, namespace, resourceVersion = "" }, spec, status }) => ({
      ...{ apiVersion, kind, metadata: { name, namespace, resourceVersion } },
      spec: spec.controlPlaneEndpoint === undefined ? {} : { controlPlaneEndpoint: spec.controlPlaneEndpoint },
      status: { conditions: (status?.conditions ?? []).filter(({ type }) => type === ENDPOINT_READY_CONDITION) },
    }),
    onEvent({ object: { metadata, spec, status } }) {
      if (spec.controlPlaneEndpoint?.host) of(metadata.name).resolve(performance.now());
      if (status?.conditions?.length) told.add(metadata.name);
    },
  });
  const endpoints = createReflector(client, ClusterEndpoint, {
    keep: ({ apiVersion, kind, metadata: { name, namespace, resourceVersion = "" }, spec }) => ({
      ...{ apiVersion, kind, metadata: { name, namespace, resourceVersion }, spec },
    }),
  });
  const all = [clusters, endpoints];
  for (const one of all) one.start();
  return {
    has: (name) => of(name).promise,
    told: () => told.size,
    objects: () => endpoints.list().length,
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  };
}

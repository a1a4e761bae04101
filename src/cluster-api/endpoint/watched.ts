import { clusterKubeconfigName, type Cluster, type ClusterEndpoint } from "../../api/cluster-api/index.ts";
import type { KubeClient, NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createWatches, keyOf, type Watches } from "../watches.ts";
import { isMoving } from "./moving.ts";
import { clusterOfSecret, type Trust } from "./trust.ts";

/** Whom the watches tell: of a Cluster about which something changed, and of an endpoint that is to be asked again. */
export interface WatchedDeps {
  readonly client: KubeClient;
  /** Those of the process; its own where there are none. */
  readonly watches?: Watches | undefined;
  onCluster(key: NamespacedKey): void;
  onProbe(key: NamespacedKey): void;
  readonly log: Logger;
}

/** The Clusters, their ClusterEndpoints and what proves their API servers, as the watches know them. */
export interface Watched {
  cluster(key: NamespacedKey): Cluster | undefined;
  endpoint(key: NamespacedKey): ClusterEndpoint | undefined;
  endpointsOf(cluster: NamespacedKey): ClusterEndpoint[];
  trust(cluster: NamespacedKey): Trust | undefined;
  start(): void;
  /** Resolves when all that exists is known. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches all namespaces. */
export function createWatched({ client, onCluster, onProbe, log, ...deps }: WatchedDeps): Watched {
  const watches = deps.watches ?? createWatches({ management: client, log });
  const { clusters, endpoints, secrets, endpointsOf } = watches;
  const askAll = (cluster: NamespacedKey) => endpointsOf(cluster).forEach((endpoint) => onProbe(keyOf(endpoint)));
  clusters.listen(({ object, old }) => {
    const key = keyOf(object);
    onCluster(key);
    if (old !== undefined && isMoving(old) !== isMoving(object)) askAll(key);
  });
  endpoints.listen(({ type, object, old }) => {
    onCluster({ namespace: object.metadata.namespace, name: object.spec.cluster });
    const isOther = old?.metadata.generation !== object.metadata.generation;
    if (type !== "updated" || isOther) onProbe(keyOf(object));
  });
  secrets.listen(({ object }) => {
    const name = clusterOfSecret(object);
    if (name !== undefined) askAll({ namespace: object.metadata.namespace, name });
  });
  const all = [clusters, endpoints, secrets];

  return {
    cluster: ({ namespace, name }) => clusters.get(name, namespace),
    endpoint: ({ namespace, name }) => endpoints.get(name, namespace),
    endpointsOf,
    trust: ({ namespace, name }) => secrets.get(clusterKubeconfigName(name), namespace)?.trust,
    start: () => all.forEach((one) => one.start()),
    synced: async () => void (await Promise.all(all.map((one) => one.synced()))),
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  };
}

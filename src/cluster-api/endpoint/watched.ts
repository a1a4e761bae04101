import {
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  CONTROL_PLANE_AVAILABLE_CONDITION,
  DELETE_FOR_MOVE_ANNOTATION,
  PAUSED_ANNOTATION,
} from "../../api/cluster-api/index.ts";
import { SURFACED_LABEL } from "../../api/labels.ts";
import { ENDPOINT_READY_CONDITION } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, type KubeClient, type NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createEndpointIndex } from "./endpoint-index.ts";
import { isMoving } from "./moving.ts";
import { clusterOfSecret, keepTrust, TRUST_SECRETS, TrustSecret, type Trust } from "./trust.ts";

/** Whom the watches tell: of a Cluster about which something changed, and of an endpoint that is to be asked again. */
export interface WatchedDeps {
  readonly client: KubeClient;
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

/** Watches all namespaces; of each object it remembers what the controller looks at. */
export function createWatched({ client, onCluster, onProbe, log }: WatchedDeps): Watched {
  const index = createEndpointIndex();
  const askAll = (cluster: NamespacedKey) =>
    index.namesOf(cluster).forEach((name) => onProbe({ namespace: cluster.namespace, name }));
  const clusters = createReflector(client, Cluster, {
    log,
    keep: essential,
    onEvent({ object, old }) {
      const key = keyOf(object);
      onCluster(key);
      if (old !== undefined && isMoving(old) !== isMoving(object)) askAll(key);
    },
  });
  const endpoints = createReflector(client, ClusterEndpoint, {
    log,
    onEvent({ type, object, old }) {
      index.take(type, object);
      onCluster({ namespace: object.metadata.namespace, name: object.spec.cluster });
      const isOther = old?.metadata.generation !== object.metadata.generation;
      if (type !== "updated" || isOther) onProbe(keyOf(object));
    },
  });
  const secrets = createReflector(client, TrustSecret, {
    log,
    fieldSelector: TRUST_SECRETS,
    keep: keepTrust,
    onEvent({ object }) {
      const name = clusterOfSecret(object);
      if (name === undefined) return;
      askAll({ namespace: object.metadata.namespace, name });
    },
  });
  const all = [clusters, endpoints, secrets];

  return {
    cluster: ({ namespace, name }) => clusters.get(name, namespace),
    endpoint: ({ namespace, name }) => endpoints.get(name, namespace),
    endpointsOf: (cluster) => index.namesOf(cluster).flatMap((name) => endpoints.get(name, cluster.namespace) ?? []),
    trust: ({ namespace, name }) => secrets.get(clusterKubeconfigName(name), namespace)?.trust,
    start: () => all.forEach((one) => one.start()),
    synced: async () => void (await Promise.all(all.map((one) => one.synced()))),
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  };
}

const keyOf = ({ metadata: { name, namespace = "" } }: KubeObject): NamespacedKey => ({ name, namespace });

/** The conditions of a Cluster that are looked at. */
const judgedBy: ReadonlySet<string> = new Set([ENDPOINT_READY_CONDITION, CONTROL_PLANE_AVAILABLE_CONDITION]);

/** A management cluster has thousands of Clusters, each of several kB. */
function essential({ apiVersion, kind, metadata, spec, status }: Cluster): Cluster {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels, annotations } = metadata;
  const { paused, controlPlaneEndpoint, infrastructureRef, controlPlaneRef } = spec;
  const conditions = status?.conditions?.filter(({ type }) => judgedBy.has(type)) ?? [];
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace, uid, resourceVersion, deletionTimestamp },
      labels: only(labels, SURFACED_LABEL),
      annotations: only(annotations, PAUSED_ANNOTATION, DELETE_FOR_MOVE_ANNOTATION),
    },
    spec: { paused, controlPlaneEndpoint, infrastructureRef, controlPlaneRef },
    status: { conditions },
  };
}

function only(texts: Readonly<Record<string, string>> = {}, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (texts[key] === undefined ? [] : [[key, texts[key]]])));
}

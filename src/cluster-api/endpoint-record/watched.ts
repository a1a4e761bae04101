import {
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  CONTROL_PLANE_LABEL,
  DELETE_FOR_MOVE_ANNOTATION,
  EndpointRecord,
  Machine,
  PAUSED_ANNOTATION,
} from "../../api/cluster-api/index.ts";
import { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, type KubeClient, type NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { clusterOfSecret, keepTrust, TRUST_SECRETS, TrustSecret, type Trust } from "../endpoint/trust.ts";

/** Whom the watches tell of a record about which something has changed. */
export interface WatchedDeps {
  readonly client: KubeClient;
  onRecord(key: NamespacedKey): void;
  readonly log: Logger;
}

/** EndpointRecords, and what they go by, as the watches know it. */
export interface Watched {
  record(key: NamespacedKey): EndpointRecord | undefined;
  recordsNamed(name: string): EndpointRecord[];
  cluster(key: NamespacedKey): Cluster | undefined;
  /** Of its control plane. */
  machinesOf(cluster: NamespacedKey): Machine[];
  trust(cluster: NamespacedKey): Trust | undefined;
  start(): void;
  /** Resolves when there is a record, and all that it goes by is known. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches EndpointRecords; all else only from the first of them on, for who has none pays nothing. */
export function createWatched({ client, onRecord, log }: WatchedDeps): Watched {
  const first = Promise.withResolvers<void>();
  const records = createReflector(client, EndpointRecord, {
    log,
    onEvent({ object: { metadata, spec } }) {
      onRecord(keyOf({ metadata }));
      for (const rival of recordsNamed(spec.name)) onRecord(rival.metadata);
      first.resolve();
    },
  });
  const recordsNamed = (name: string) => records.list().filter(({ spec }) => spec.name === name);
  const tell = (namespace: string, cluster: string | undefined) =>
    records
      .list(namespace)
      .filter(({ spec }) => spec.cluster === cluster)
      .forEach(({ metadata }) => onRecord(metadata));
  const clusters = createReflector(client, Cluster, {
    log,
    keep: essentialCluster,
    onEvent: ({ object: { metadata } }) => tell(metadata.namespace, metadata.name),
  });
  const machines = createReflector(client, Machine, {
    log,
    labelSelector: CONTROL_PLANE_LABEL,
    keep: essentialMachine,
    onEvent: ({ object: { metadata, spec } }) => tell(metadata.namespace, spec.clusterName),
  });
  const secrets = createReflector(client, TrustSecret, {
    log,
    fieldSelector: TRUST_SECRETS,
    keep: keepTrust,
    onEvent: ({ object }) => tell(object.metadata.namespace, clusterOfSecret(object)),
  });
  // Of these only the news count: both have the names of their records.
  const onEvent = ({ object }: { readonly object: KubeObject }) => onRecord(keyOf(object));
  const endpoints = createReflector(client, ClusterEndpoint, { log, onEvent });
  const dnsRecords = createReflector(client, DNSRecord, { log, onEvent, labelSelector: ENDPOINT_RECORD_LABEL });
  const needed = [clusters, machines, secrets];
  let isStopped = false;

  return {
    record: ({ namespace, name }) => records.get(name, namespace),
    recordsNamed,
    cluster: ({ namespace, name }) => clusters.get(name, namespace),
    machinesOf: ({ namespace, name }) => machines.list(namespace).filter(({ spec }) => spec.clusterName === name),
    trust: ({ namespace, name }) => secrets.get(clusterKubeconfigName(name), namespace)?.trust,
    start() {
      records.start();
      void first.promise.then(() => {
        if (!isStopped) for (const one of [...needed, endpoints, dnsRecords]) one.start();
      });
    },
    async synced() {
      await first.promise;
      await Promise.all([records, ...needed].map((one) => one.synced()));
    },
    async stop() {
      isStopped = true;
      await Promise.all([records, ...needed, endpoints, dnsRecords].map((one) => one.stop()));
    },
  };
}

const keyOf = ({ metadata: { name, namespace = "" } }: Pick<KubeObject, "metadata">): NamespacedKey => ({
  name,
  namespace,
});

function essentialCluster({ apiVersion, kind, metadata, spec }: Cluster): Cluster {
  const { name, namespace, uid, resourceVersion, annotations = {} } = metadata;
  const looked = [PAUSED_ANNOTATION, DELETE_FOR_MOVE_ANNOTATION].filter((key) => key in annotations);
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      annotations: Object.fromEntries(looked.map((key) => [key, annotations[key] ?? ""])),
    },
    spec: { paused: spec.paused },
  };
}

function essentialMachine({ apiVersion, kind, metadata, spec, status }: Machine): Machine {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    ...{ apiVersion, kind },
    metadata: { name, namespace, uid, resourceVersion, deletionTimestamp },
    spec: { ...spec, bootstrap: {} },
    status: { addresses: status?.addresses },
  };
}

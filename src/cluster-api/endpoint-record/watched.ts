import {
  CLUSTER_SECRET_TYPE,
  clusterKubeconfigName,
  CONTROL_PLANE_LABEL,
  EndpointRecord,
  Machine,
  type Cluster,
} from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createController,
  createReflector,
  indexBy,
  Secret,
  type Key,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { clusterOfSecret, type Trust } from "../endpoint/trust.ts";
import { findCondition } from "../objects/conditions.ts";
import { isLeftToMove, isPaused } from "../objects/paused.ts";
import { nameOnly } from "../kept.ts";
import { createWatches, keyOf, type Watches } from "../watches.ts";
import { listDnsRecords } from "./left.ts";
import { watchDnsRecords } from "./served.ts";

/** Whom the watches tell of a record about which something has changed, or about another that wants its name. */
export interface WatchedDeps {
  readonly client: KubeClient;
  /** Those of the process; its own where there are none. */
  readonly watches?: Watches | undefined;
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
  /** Whether the Secret is there with which its name can be brought into the DNS. */
  hasCredentials(record: EndpointRecord): boolean;
  /** Whether the cluster has the definition of DNSRecords; records are told of when it comes. */
  hasDnsRecords(): boolean;
  start(): void;
  /** Resolves when there is a record, or a DNSRecord that one has left behind, and all that it goes by is known. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches EndpointRecords; all else only from the first of them on, or the first DNSRecord that one has left, for who has none pays nothing. */
export function createWatched({ client, onRecord, log, ...deps }: WatchedDeps): Watched {
  const { clusters, endpoints, secrets } = deps.watches ?? createWatches({ management: client, log });
  const first = Promise.withResolvers<void>();
  const records = createReflector(client, EndpointRecord, {
    log,
    onEvent({ type, object, old }) {
      onRecord(keyOf(object));
      if (type !== "updated" || standingOf(old) !== standingOf(object)) tellAll(object);
      first.resolve();
    },
  });
  const recordsNamed = indexBy(records, ({ spec }) => spec.name);
  const tellAll = ({ spec }: EndpointRecord) => recordsNamed(spec.name).forEach(({ metadata }) => onRecord(metadata));
  const tell = (namespace: string, cluster: string | undefined) =>
    records
      .list(namespace)
      .filter(({ spec }) => spec.cluster === cluster)
      .forEach(tellAll);
  clusters.listen(({ object: { metadata } }) => tell(metadata.namespace, metadata.name));
  secrets.listen(({ object }) => tell(object.metadata.namespace, clusterOfSecret(object)));
  const machines = createReflector(client, Machine, {
    log,
    labelSelector: CONTROL_PLANE_LABEL,
    keep: essentialMachine,
    onEvent: ({ object: { metadata, spec } }) => tell(metadata.namespace, spec.clusterName),
  });
  const credentials = createReflector(client, Secret, {
    log,
    metadataOnly: true, // what is in them is the extension's to read
    fieldSelector: CREDENTIALS,
    keep: nameOnly,
    onEvent: ({ object }) =>
      records
        .list(object.metadata.namespace)
        .filter(({ spec }) => spec.provider.secretRef.name === object.metadata.name)
        .forEach(tellAll),
  });
  // Of these only the news count: both have the names of their records.
  const tellNamesake = ({ object }: { readonly object: KubeObject }) => {
    const { name, namespace } = keyOf(object);
    if (records.get(name, namespace) !== undefined) onRecord({ name, namespace });
  };
  endpoints.listen(tellNamesake);
  const dnsRecords = watchDnsRecords(client, { log, onRecord, onServed: () => records.list().forEach(tellAll) });
  const needed = [clusters, machines, secrets, credentials];
  const left = createController<Key>({
    name: "endpoint-record-left",
    log,
    async reconcile() {
      if ((await listDnsRecords(client)).length > 0) first.resolve();
    },
  });
  let isStopped = false;

  return {
    record: ({ namespace, name }) => records.get(name, namespace),
    recordsNamed,
    cluster: ({ namespace, name }) => clusters.get(name, namespace),
    machinesOf: ({ namespace, name }) => machines.list(namespace).filter(({ spec }) => spec.clusterName === name),
    trust: ({ namespace, name }) => secrets.get(clusterKubeconfigName(name), namespace)?.trust,
    hasCredentials: ({ metadata: { namespace }, spec }) =>
      credentials.get(spec.provider.secretRef.name, namespace) !== undefined,
    hasDnsRecords: () => dnsRecords.isServed(),
    start() {
      records.start();
      left.enqueue({ name: "all" });
      left.start();
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
      await Promise.all([left, records, ...needed, endpoints, dnsRecords].map((one) => one.stop()));
    },
  };
}

/** Field selector of Secrets that may be credentials: of a management cluster's Secrets, most are of these types. */
const CREDENTIALS = [CLUSTER_SECRET_TYPE, "helm.sh/release.v1", "kubernetes.io/service-account-token"]
  .map((type) => `type!=${type}`)
  .join(",");

function essentialMachine({ apiVersion, kind, metadata, spec, status }: Machine): Machine {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    ...{ apiVersion, kind },
    metadata: { name, namespace, uid, resourceVersion, deletionTimestamp },
    spec: { ...spec, bootstrap: {} },
    status: { addresses: status?.addresses },
  };
}

/** What of a record counts for others that want its name: each of them is looked at again when it changes, and only then. */
function standingOf(record: EndpointRecord | undefined): string {
  const { metadata, status } = record ?? {};
  const published = findCondition(status?.conditions, "Published")?.reason;
  const keepsOff = record && [isPaused(record), isLeftToMove(record)];
  return JSON.stringify([metadata?.finalizers, metadata?.deletionTimestamp, keepsOff, published]);
}

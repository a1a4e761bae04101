import { setTimeout as delay } from "node:timers/promises";
import {
  CLUSTER_SECRET_TYPE,
  clusterKubeconfigName,
  CONTROL_PLANE_LABEL,
  EndpointRecord,
  Machine,
  type Cluster,
} from "../../api/cluster-api/index.ts";
import type { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
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
import { isLeftToMove, isPaused } from "../objects/paused.ts";
import { nameOnly } from "../kept.ts";
import { createWatches, keyOf, type Watches } from "../watches.ts";
import { hasHeld } from "./claims.ts";
import { listDnsRecords } from "./left.ts";
import { watchDnsRecords } from "./served.ts";

/** What is called when something has changed about a record, or that counts for who has a name. */
export interface WatchedDeps {
  readonly client: KubeClient;
  /** Those of the process; its own where there are none. */
  readonly watches?: Watches | undefined;
  onRecord(key: NamespacedKey): void;
  onName(name: string): void;
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
  /** The DNSRecord that was made for the record of that key. */
  dnsRecord(key: NamespacedKey): Promise<DNSRecord | undefined>;
  start(): void;
  /** Resolves when there is a record, or a DNSRecord that one has left behind, and all that it goes by is known. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches EndpointRecords; all else only from the first of them on, or the first DNSRecord that one has left, for who has none pays nothing. */
export function createWatched({ client, onRecord, onName, log, ...deps }: WatchedDeps): Watched {
  const { clusters, endpoints, secrets } = deps.watches ?? createWatches({ management: client, log });
  const first = Promise.withResolvers<void>();
  const records = createReflector(client, EndpointRecord, { log });
  const recordsNamed = indexBy(records, ({ spec }) => spec.name);
  const recordsOf = indexBy(records, ({ metadata, spec }) => `${metadata.namespace}/${spec.cluster}`);
  const recordsWith = indexBy(records, ({ metadata, spec }) => `${metadata.namespace}/${spec.provider.secretRef.name}`);
  records.listen(({ type, object, old }) => {
    if (type !== "updated" || standingOf(old) !== standingOf(object)) onName(object.spec.name);
    onRecord(keyOf(object));
    first.resolve();
  });
  const tellEach = (found: readonly EndpointRecord[], countsForNames: boolean) => {
    if (countsForNames) found.forEach(({ spec }) => onName(spec.name));
    found.forEach(({ metadata }) => onRecord(metadata));
  };
  const tell = (namespace: string, cluster: string | undefined, countsForNames = false) =>
    tellEach(recordsOf(`${namespace}/${cluster}`), countsForNames);
  clusters.listen(({ type, object: { metadata } }) => tell(metadata.namespace, metadata.name, type !== "updated"));
  secrets.listen(({ object }) => tell(object.metadata.namespace, clusterOfSecret(object)));
  const machines = createReflector(client, Machine, {
    log,
    labelSelector: CONTROL_PLANE_LABEL,
    keep: essentialMachine,
  });
  const machinesOf = indexBy(machines, ({ metadata, spec }) => `${metadata.namespace}/${spec.clusterName}`);
  machines.listen(({ object: { metadata, spec } }) => tell(metadata.namespace, spec.clusterName));
  const credentials = createReflector(client, Secret, {
    log,
    metadataOnly: true, // what is in them is the extension's to read
    fieldSelector: CREDENTIALS,
    keep: nameOnly,
    onEvent: ({ type, object: { metadata } }) =>
      tellEach(recordsWith(`${metadata.namespace}/${metadata.name}`), type !== "updated"),
  });
  // Of these only the news count: both have the names of their records.
  const tellNamesake = ({ object }: { readonly object: KubeObject }) => {
    const { name, namespace } = keyOf(object);
    if (records.get(name, namespace) !== undefined) onRecord({ name, namespace });
  };
  endpoints.listen(tellNamesake);
  const dnsRecords = watchDnsRecords(client, {
    log,
    onRecord(key, isOther) {
      const record = records.get(key.name, key.namespace);
      if (isOther && record !== undefined) onName(record.spec.name);
      onRecord(key);
    },
    onServed: () => tellEach(records.list(), false),
  });
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
    machinesOf: ({ namespace, name }) => machinesOf(`${namespace}/${name}`),
    trust: ({ namespace, name }) => secrets.get(clusterKubeconfigName(name), namespace)?.trust,
    hasCredentials: ({ metadata: { namespace }, spec }) =>
      credentials.get(spec.provider.secretRef.name, namespace) !== undefined,
    hasDnsRecords: () => dnsRecords.isServed(),
    dnsRecord: dnsRecords.find,
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
      // Where DNSRecords cannot be listed, records whose name no other has are looked after all the same.
      await Promise.race([dnsRecords.synced(), delay(10_000, undefined, { ref: false })]);
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

/** What of a record counts for who has its name: that is decided again when it changes, and only then. */
function standingOf(record: EndpointRecord | undefined): string {
  if (record === undefined) return "";
  const { finalizers = [], deletionTimestamp } = record.metadata;
  const isHeld = finalizers.includes(ENDPOINT_RECORD_FINALIZER);
  return JSON.stringify([isHeld, deletionTimestamp, isPaused(record), isLeftToMove(record), hasHeld(record)]);
}

import { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../api/labels.ts";
import {
  createReflector,
  CustomResourceDefinition,
  isEstablished,
  type KubeClient,
  type NamespacedKey,
  type Reflector,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { keyOf } from "../watches.ts";
import { readDnsRecord } from "./dns-record.ts";

/** Whom the watches tell. */
export interface ServedDeps {
  readonly log: Logger;
  /** The DNSRecord of this record has changed, or its record has gone; `isOther` where there was none before, is none any more, or is one of another name. */
  onRecord(key: NamespacedKey, isOther: boolean): void;
  /** The cluster has come to serve DNSRecords. */
  onServed(): void;
}

/** The DNSRecords that were made for EndpointRecords, watched while the cluster has their definition. */
export interface ServedDnsRecords {
  isServed(): boolean;
  /** The DNSRecord of a record: as the watch knows it, and before its first list as the API server does. */
  find(key: NamespacedKey): Promise<DNSRecord | undefined>;
  start(): void;
  /** Resolves when it is known whether DNSRecords are served, and those that there are have been listed. */
  synced(): Promise<void>;
  stop(): Promise<void>;
}

/** Watches the definition of DNSRecords, which operators may install at any time, so that a cluster without it is asked for none. */
export function watchDnsRecords(client: KubeClient, { log, onRecord, onServed }: ServedDeps): ServedDnsRecords {
  const stopping: Promise<void>[] = [];
  let dnsRecords: Reflector<DNSRecord> | undefined;
  let listed: Reflector<DNSRecord> | undefined;

  function follow(isServed: boolean): void {
    if (isServed === (dnsRecords !== undefined)) return;
    if (dnsRecords !== undefined) stopping.push(dnsRecords.stop());
    dnsRecords = isServed ? newReflector() : undefined;
    dnsRecords?.start();
    const started = dnsRecords;
    started?.synced().then(
      () => (listed = started),
      () => undefined, // it was stopped before
    );
    if (isServed) onServed();
  }

  const newReflector = () =>
    createReflector(client, DNSRecord, {
      log,
      // Also where the record has gone
      onEvent: ({ type, object, old }) =>
        onRecord(keyOf(object), type !== "updated" || old?.spec.name !== object.spec.name),
      labelSelector: ENDPOINT_RECORD_LABEL,
    });
  const definition = createReflector(client, CustomResourceDefinition, {
    log,
    fieldSelector: `metadata.name=${DEFINITION}`,
    onEvent: ({ type, object }) => follow(type !== "deleted" && isEstablished(object)),
  });

  return {
    isServed: () => dnsRecords !== undefined,
    async find(key) {
      if (dnsRecords === undefined) return undefined;
      return listed === dnsRecords ? dnsRecords.get(key.name, key.namespace) : await readDnsRecord(client, key);
    },
    async synced() {
      await definition.synced();
      await dnsRecords?.synced();
    },
    start: () => definition.start(),
    async stop() {
      await definition.stop();
      await Promise.all([...stopping, dnsRecords?.stop()]);
    },
  };
}

const DEFINITION = "dnsrecords.extensions.gardener.cloud";

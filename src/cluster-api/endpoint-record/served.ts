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

/** Whom the watches tell. */
export interface ServedDeps {
  readonly log: Logger;
  /** The DNSRecord of this record has changed, or its record has gone. */
  onRecord(key: NamespacedKey): void;
  /** The cluster has come to serve DNSRecords. */
  onServed(): void;
}

/** The DNSRecords that were made for EndpointRecords, watched while the cluster has their definition. */
export interface ServedDnsRecords {
  isServed(): boolean;
  start(): void;
  stop(): Promise<void>;
}

/** Watches the definition of DNSRecords, which operators may install at any time, so that a cluster without it is asked for none. */
export function watchDnsRecords(client: KubeClient, { log, onRecord, onServed }: ServedDeps): ServedDnsRecords {
  const stopping: Promise<void>[] = [];
  let dnsRecords: Reflector<DNSRecord> | undefined;

  function follow(isServed: boolean): void {
    if (isServed === (dnsRecords !== undefined)) return;
    if (dnsRecords !== undefined) stopping.push(dnsRecords.stop());
    dnsRecords = isServed ? newReflector() : undefined;
    dnsRecords?.start();
    if (isServed) onServed();
  }

  const newReflector = () =>
    createReflector(client, DNSRecord, {
      log,
      onEvent: ({ object }) => onRecord(keyOf(object)), // also where the record has gone
      labelSelector: ENDPOINT_RECORD_LABEL,
    });
  const definition = createReflector(client, CustomResourceDefinition, {
    log,
    fieldSelector: `metadata.name=${DEFINITION}`,
    onEvent: ({ type, object }) => follow(type !== "deleted" && isEstablished(object)),
  });

  return {
    isServed: () => dnsRecords !== undefined,
    start: () => definition.start(),
    async stop() {
      await definition.stop();
      await Promise.all([...stopping, dnsRecords?.stop()]);
    },
  };
}

const DEFINITION = "dnsrecords.extensions.gardener.cloud";

import { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../api/labels.ts";
import { unlessGone, type KubeClient, type NamespacedKey } from "../../kube/index.ts";
import { isForEndpoint, readDnsRecord } from "./dns-record.ts";
import { handOver } from "./hand-over.ts";

/**
 * Hands over the DNSRecord that an EndpointRecord has left behind. A deleted record goes after its DNSRecord, so one that went before it
 * was taken away by `clusterctl move`, or by those who took its finalizer: both want the name to stay.
 */
export async function handOverLeft(client: KubeClient, key: NamespacedKey): Promise<void> {
  const found = await readDnsRecord(client, key);
  if (found !== undefined && isForEndpoint(found)) await handOver(client, found);
}

/** The DNSRecords that were made for EndpointRecords; none where the cluster serves no such kind. */
export async function listDnsRecords(client: KubeClient): Promise<readonly DNSRecord[]> {
  return (await unlessGone(client.list(DNSRecord, { labelSelector: ENDPOINT_RECORD_LABEL }))) ?? [];
}

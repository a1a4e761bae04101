import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
import { dropFinalizer, inWords, refOf, type KubeClient } from "../../kube/index.ts";
import { say } from "../objects/say.ts";
import { isForEndpoint, readDnsRecord, removeDnsRecord } from "./dns-record.ts";
import { publishedSaid } from "./published.ts";

/** Takes the name of a record that is being deleted out of the DNS, and then lets the record go; says what it waits for. */
export async function removeRecord(client: KubeClient, record: EndpointRecord): Promise<void> {
  const { finalizers = [] } = record.metadata;
  if (!finalizers.includes(ENDPOINT_RECORD_FINALIZER)) return;
  const dnsRecord = await readDnsRecord(client, record);
  if (dnsRecord === undefined || !isForEndpoint(dnsRecord))
    return await dropFinalizer(client, record, ENDPOINT_RECORD_FINALIZER);
  await removeDnsRecord(client, dnsRecord);
  const why = dnsRecord.status?.lastError?.description ?? "its extension has not let go of it";
  const message = `${inWords(refOf(dnsRecord))} is being deleted: ${why}`;
  await say(client, record, [publishedSaid("False", "Deleting", message)]);
}

import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import type { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
import { dropFinalizer, inWords, isNotFound, refOf, type KubeClient } from "../../kube/index.ts";
import type { Again } from "../again.ts";
import { say } from "../objects/say.ts";
import { ensureDnsRecord, isForEndpoint, readDnsRecord, removeDnsRecord } from "./dns-record.ts";
import { handOver, isHandedOver, isHeld } from "./hand-over.ts";
import { notePublished } from "./note-published.ts";
import { againOnceServed, describeNoExtension, publishedSaid } from "./published.ts";

/**
 * Takes the name of a record that is being deleted out of the DNS, and then lets the record go; says what it waits for. The name is another's
 * where this one has neither it nor a DNSRecord: a copy, or one that was moved beside it. Then it stays.
 */
export async function removeRecord(
  client: KubeClient,
  record: EndpointRecord,
  { hasName, hasDnsRecords }: { readonly hasName: boolean; readonly hasDnsRecords: boolean },
): Promise<void | Again> {
  const { finalizers = [] } = record.metadata;
  if (!finalizers.includes(ENDPOINT_RECORD_FINALIZER)) return;
  const existing = await readDnsRecord(client, record.metadata);
  const isAnothers = existing === undefined && !hasName;
  if (isAnothers || isOut(record, existing)) return await dropFinalizer(client, record, ENDPOINT_RECORD_FINALIZER);
  try {
    await removeName(client, record, existing);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await say(client, record, [publishedSaid("False", "Deleting", `${describeNoExtension(record)}. ${LEAVING}`)]);
    return againOnceServed(hasDnsRecords);
  }
}

const LEAVING = `To leave the name in the DNS, take away finalizer ${ENDPOINT_RECORD_FINALIZER}`;

async function removeName(client: KubeClient, record: EndpointRecord, existing: DNSRecord | undefined): Promise<void> {
  const dnsRecord = existing ?? (await bringBack(client, record));
  if (dnsRecord === undefined) return; // the watch brings what comes of it
  const why = (await takeOut(client, record, dnsRecord)) ?? dnsRecord.status?.lastError?.description ?? WAITING;
  const message = `${inWords(refOf(dnsRecord))} is being deleted: ${why}`;
  await say(client, record, [publishedSaid("False", "Deleting", message)]);
}

/** Whether the DNS has nothing of a record; a DNSRecord of its name that is for something else stays. */
const isOut = ({ spec: { published } }: EndpointRecord, existing: DNSRecord | undefined): boolean =>
  existing === undefined ? published === undefined : !isForEndpoint(existing);

/** Of a record that has just been moved here: only an extension that has the name can take it out of the DNS. */
async function bringBack(client: KubeClient, record: EndpointRecord): Promise<DNSRecord | undefined> {
  const { published: wanted } = record.spec;
  return wanted && (await ensureDnsRecord(client, record, { existing: undefined, wanted }));
}

const WAITING = "its extension has not let go of it";

/**
 * The step that is next until a name is out of the DNS; a watch brings the one after it. What is said of the name is forgotten before the
 * DNSRecord is deleted, or it would be made once more.
 */
async function takeOut(client: KubeClient, record: EndpointRecord, dnsRecord: DNSRecord): Promise<string | undefined> {
  if (isHandedOver(dnsRecord)) return void (await handOver(client, dnsRecord));
  if (record.spec.published !== undefined && !isHeld(dnsRecord)) return "its extension has not taken it up";
  if (await notePublished(client, record, undefined)) await removeDnsRecord(client, dnsRecord);
  return undefined;
}

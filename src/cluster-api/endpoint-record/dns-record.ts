import { isDeepStrictEqual } from "node:util";
import { CONFIRM_DELETION_ANNOTATION, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { DNSRecord } from "../../api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../api/labels.ts";
import {
  isConflict,
  nextTimestamp,
  refOf,
  refTo,
  typeMeta,
  unlessGone,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { ENDPOINT_MANAGER } from "../objects/field-managers.ts";
import { handOver, isHandedOver } from "./hand-over.ts";
import type { RecordType, Values } from "./values.ts";

/** The DNSRecord that stands for an EndpointRecord: of its name, in its namespace. */
export const readDnsRecord = async (
  client: KubeClient,
  { namespace, name }: NamespacedKey,
): Promise<DNSRecord | undefined> => await client.read(refTo(DNSRecord, { namespace, name }));

/** Whether a DNSRecord was made for an EndpointRecord; any other of its name is left alone. */
export const isForEndpoint = ({ metadata: { labels = {} } }: DNSRecord): boolean => ENDPOINT_RECORD_LABEL in labels;

/** What a DNSRecord says. */
export const valuesIn = ({ spec }: DNSRecord): Values => ({
  recordType: spec.recordType as RecordType,
  values: [...spec.values].sort(),
});

/**
 * Has the DNS say these values; asks the extension only where the DNSRecord says something else. What cannot change in one, its name and
 * type among them, makes another: the former goes first. Returns the DNSRecord as it is then; undefined while one is on its way.
 */
export async function ensureDnsRecord(
  client: KubeClient,
  record: EndpointRecord,
  { existing, wanted }: { readonly existing: DNSRecord | undefined; readonly wanted: Values },
): Promise<DNSRecord | undefined> {
  const spec = specOf(record, wanted);
  const annotations = { [OPERATION_ANNOTATION]: "reconcile", [TIMESTAMP_ANNOTATION]: nextTimestamp(existing) };
  if (existing === undefined) {
    const { name, namespace, uid = "" } = record.metadata;
    const metadata = { name, namespace, annotations, labels: { [ENDPOINT_RECORD_LABEL]: uid } };
    return await client.create({ ...typeMeta(DNSRecord), metadata, spec }, { fieldManager: ENDPOINT_MANAGER });
  }
  if (existing.metadata.deletionTimestamp !== undefined) return undefined;
  if (isHandedOver(existing)) return void (await handOver(client, existing)); // the record has come back
  const isOther = fixed.some((field) => existing.spec[field] !== spec[field]);
  if (isOther) return void (await removeDnsRecord(client, existing));
  const { secretRef, ttl } = existing.spec;
  const present = { ...spec, ttl, secretRef, values: valuesIn(existing).values };
  return isDeepStrictEqual(present, spec)
    ? existing
    : await patchSeen(client, existing, { metadata: { annotations }, spec });
}

/** What of a DNSRecord stays as it was made (Gardener's ValidateDNSRecordSpecUpdate); a zone would keep what was written there. */
const fixed = ["type", "class", "name", "recordType", "zone"] as const;

/** Credentials come out of the EndpointRecord's own namespace, and no other. */
function specOf({ metadata: { namespace }, spec }: EndpointRecord, { recordType, values }: Values): DNSRecord["spec"] {
  const { provider, name, zone, ttl } = spec;
  return {
    ...{ type: provider.type, class: "garden", secretRef: { name: provider.secretRef.name, namespace } },
    ...(zone !== undefined && { zone }),
    ...{ name, recordType, values: [...values], ttl },
  };
}

/** Confirms the deletion of a DNSRecord as it was seen, and asks for it; its extension takes the name out of the DNS. Once. */
export async function removeDnsRecord(client: KubeClient, existing: DNSRecord): Promise<void> {
  const { uid, deletionTimestamp } = existing.metadata;
  if (deletionTimestamp !== undefined) return;
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true", [TIMESTAMP_ANNOTATION]: nextTimestamp(existing) };
  const confirmed = await patchSeen(client, existing, { metadata: { annotations } });
  if (confirmed === undefined) return; // it has changed: the watch brings it again
  try {
    await unlessGone(client.remove(refOf(existing), uid === undefined ? {} : { uid }));
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

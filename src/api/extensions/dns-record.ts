import { z } from "zod";
import { DELETION_PROTECTED_LABEL } from "../annotations.ts";
import { secretReference } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, openEnum, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";

const dnsRecordSpec = object({
  ...defaultSpec.shape,
  secretRef: secretReference.describe(
    "SecretRef is a reference to a secret that contains the cloud provider specific credentials.",
  ),
  region: z.string().optional().describe("Region is the region of this DNS record."),
  zone: z.string().optional().describe("Zone is the DNS hosted zone of this DNS record."),
  name: z.string().meta(immutable()).describe("Name is the fully qualified domain name, e.g. 'api.<shoot domain>'."),
  recordType: openEnum("A", "AAAA", "CNAME", "TXT").meta(immutable()).describe("RecordType is the DNS record type."),
  values: z
    .array(z.string())
    .describe(
      "Values is a list of IP addresses for A records, a single hostname for CNAME records, or a list of texts for TXT records.",
    ),
  ttl: z.int().optional().describe("TTL is the time to live in seconds."),
});

const dnsRecordStatus = object({
  ...defaultStatus.shape,
  zone: z.string().optional().describe("Zone is the DNS hosted zone of this DNS record."),
});

/** One DNS name and what it resolves to. */
export const DNSRecord = defineResource({
  group: "extensions.gardener.cloud",
  version: "v1alpha1",
  kind: "DNSRecord",
  plural: "dnsrecords",
  shortNames: ["dns"],
  scope: "Namespaced",
  description: "One DNS name and what it resolves to.",
  content: { spec: dnsRecordSpec, status: dnsRecordStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Domain Name", path: ".spec.name" },
    { name: "Record Type", path: ".spec.recordType" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  labels: { [DELETION_PROTECTED_LABEL]: "true" },
});

/** One DNS name and what it resolves to. */
export type DNSRecord = z.infer<typeof DNSRecord.schema>;

import { z } from "zod";
import { secretReference } from "../schema/references.ts";
import { immutable, openEnum, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, seconds, type TypeSource } from "./define-extension.ts";

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

const internalTypes = ({ seed }: TypeSource): string[] => {
  const type = seed?.spec.dns.internal?.type ?? seed?.spec.dns.provider?.type;
  return type === undefined ? [] : [type];
};

const externalTypes = ({ shoot }: TypeSource): string[] => {
  const providers = shoot.spec.dns?.providers ?? [];
  const type = (providers.find(({ primary }) => primary) ?? providers[0])?.type;
  return type === undefined ? [] : [type];
};

/** One DNS name and what it resolves to. */
export const DNSRecord = defineExtension({
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
  contract: {
    writer: "flow",
    stateful: true,
    cluster: "sometimes",
    admission: "none",
    types: (source, purpose) => [
      ...(purpose === "external" ? [] : internalTypes(source)),
      ...(purpose === "internal" ? [] : externalTypes(source)),
    ],
    purposes: ["internal", "external"],
    nameOf: ({ name }, purpose) => `${name}-${purpose}`,
    severeAfter: seconds(15),
    deadline: minutes(2),
    trigger: "onChange",
  },
});

/** One DNS name and what it resolves to. */
export type DNSRecord = z.infer<typeof DNSRecord.schema>;

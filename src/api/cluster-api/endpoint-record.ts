import { z } from "zod";
import { immutable, object, rules } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { count, dnsSubdomain, identifier } from "../schema/syntax.ts";
import { hostRules } from "./cluster-endpoint.ts";
import { conditions } from "./condition.ts";
import { CLUSTERCTL_LABEL, CLUSTERCTL_MOVE_LABEL } from "./names.ts";

/** Gardener's check of DNSRecords wants two parts at least; an address needs no record. */
const nameRules = rules(
  ...hostRules("name"),
  { rule: "!isIP(self)", message: "name is an address, which needs no record: write a ClusterEndpoint instead" },
  { rule: "self.contains('.')", message: "name has one part only: write it whole, such as api.my-cluster.example.com" },
  { rule: "self == oldSelf", message: "name cannot be changed: certificates bear it; write another EndpointRecord" },
);

/** A zone may be an id that only the provider can read; one that is a domain has to hold the name. */
const zoneRules = rules(
  {
    rule:
      "!has(self.zone) || !self.zone.matches('^[a-z0-9][-a-z0-9]*([.][a-z0-9][-a-z0-9]*)+$') || " +
      "self.name == self.zone || self.name.endsWith('.' + self.zone)",
    messageExpression: "'name ' + self.name + ' is outside of zone ' + self.zone",
    fieldPath: ".name",
  },
  {
    rule: "has(self.zone) == has(oldSelf.zone) && (!has(self.zone) || self.zone == oldSelf.zone)",
    message: "zone cannot be changed: the name would stay in the former one",
  },
);

const provider = object({
  type: identifier().meta(immutable()).describe("Type of the DNS provider: its extension handles DNSRecords of it."),
  secretRef: object({
    name: dnsSubdomain().describe("Name of the Secret, in the namespace of the EndpointRecord."),
  }).describe("SecretRef names the Secret with the provider's credentials."),
});

const published = object({
  recordType: z.enum(["A", "AAAA", "CNAME"]).describe("RecordType is the type of its records."),
  values: z.array(z.string()).meta({ minItems: 1 }).describe("Values are where it leads, sorted."),
});

const endpointRecordSpec = object({
  cluster: dnsSubdomain().meta(immutable()).describe("Cluster is the name of the Cluster, in the same namespace."),
  name: z
    .string()
    .meta({ minLength: 1, maxLength: 253, ...nameRules })
    .describe("Name is the DNS name that leads to the Cluster's API servers."),
  port: count(1, 65_535).meta({ default: 6443 }).describe("Port at which each of the API servers answers."),
  zone: z
    .string()
    .meta({ minLength: 1, maxLength: 253 })
    .optional()
    .describe("Zone is where the provider keeps the name: its id, or a domain that holds the name."),
  provider: provider.describe("Provider is who keeps the name."),
  ttl: count(0, 3600).meta({ default: 10 }).describe("TTL is how long, in seconds, others may remember the addresses."),
  published: published
    .optional()
    .describe(
      "Published is what the DNS says of the name. The controller writes it: it goes along with `clusterctl move`.",
    ),
}).meta(zoneRules);

const endpointRecordStatus = object({
  addresses: z.array(z.string()).optional().describe("Addresses that the name was given last."),
  conditions: conditions
    .optional()
    .describe("Conditions: Serving (a Machine answers), Published (the name leads there), Ready (both) and Paused."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the generation that the controller has acted on last."),
});

const statusOf = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;

/** A DNS name for the API servers of a Cluster, on machines of any provider. */
export const EndpointRecord = defineResource({
  group: "perennial.dev",
  version: "v1alpha1",
  kind: "EndpointRecord",
  plural: "endpointrecords",
  shortNames: ["er"],
  categories: ["cluster-api"],
  scope: "Namespaced",
  description: "A DNS name that leads to those API servers of a Cluster that serve.",
  labels: { [CLUSTERCTL_LABEL]: "", [CLUSTERCTL_MOVE_LABEL]: "" },
  content: { spec: endpointRecordSpec, status: endpointRecordStatus.optional() },
  columns: [
    { name: "Cluster", path: ".spec.cluster" },
    { name: "Name", path: ".spec.name" },
    { name: "Port", path: ".spec.port", type: "integer" },
    { name: "Addresses", path: ".status.addresses" },
    { name: "Published", path: statusOf("Published") },
    { name: "Ready", path: statusOf("Ready") },
  ],
});

/** A DNS name for the API servers of a Cluster, on machines of any provider. */
export type EndpointRecord = z.infer<typeof EndpointRecord.schema>;

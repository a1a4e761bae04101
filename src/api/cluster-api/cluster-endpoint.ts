import { z } from "zod";
import { immutable, object, rules, type Rule } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { count, dnsSubdomain } from "../schema/syntax.ts";
import { conditions } from "./condition.ts";
import { CLUSTERCTL_LABEL } from "./names.ts";

/**
 * The types of endpoints; another type is another line. Of the types that surface, one object wins and is the Cluster's
 * endpoint. The proposal of flexible endpoints names this type `apiserver` in its schema and `ExternalControlPlaneEndpoint` in its examples.
 */
export const endpointTypes = {
  ExternalControlPlaneEndpoint: { surfaces: true },
  apiserver: { surfaces: true },
} as const satisfies EndpointTypes;

/** What endpoints are for, by the names of their types. */
export type EndpointTypes = Readonly<Record<string, { readonly surfaces: boolean }>>;

/** Whether an endpoint of a type may be its Cluster's; one of a type that a later version has brought is not. */
export const surfaces = (type: string, types: EndpointTypes = endpointTypes): boolean =>
  Object.hasOwn(types, type) && types[type]?.surfaces === true;

/** One of {@link endpointTypes}. */
export type EndpointType = keyof typeof endpointTypes;

const typeNames = Object.keys(endpointTypes) as [EndpointType, ...EndpointType[]];

/** Rules for a field that holds no more and no less than a DNS name or an address; each says what to write instead. */
export const hostRules = (field: string): readonly Rule[] => [
  { rule: "!self.contains('://')", message: `${field} has a scheme: write the name or the address only` },
  { rule: "!self.matches('[\\\\[\\\\]]')", message: `${field} has brackets: write an IPv6 address without them` },
  {
    rule: "!self.matches('^[^:]*:[0-9]*$|\\\\]:')",
    message: `${field} has a port: write it into the field port`,
  },
  {
    rule: "self == self.lowerAscii()",
    messageExpression: `'${field} has capitals: write ' + self.lowerAscii()`,
  },
  { rule: "!self.endsWith('.')", message: `${field} ends in a dot: write it without` },
  {
    rule: "isIP(self) || !self.matches('(^|\\\\.)(0x[0-9a-f]*|[0-9]+)$')",
    message: `${field} ends in a number and is no IPv4 address: write four numbers up to 255 without leading zeros, or a name`,
  },
  {
    rule: "!isIP(self) || ip.isCanonical(self)",
    message: `${field} is an IPv6 address in another form than its shortest: write it as in 2001:db8::1`,
  },
  {
    rule: "isIP(self) || self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",
    message: `${field} is no DNS name and no IP address: write a name of small letters, digits, hyphens and dots`,
  },
];

const endpointSpec = object({
  cluster: dnsSubdomain().meta(immutable()).describe("Cluster is the name of the Cluster, in the same namespace."),
  host: z
    .string()
    .meta({ minLength: 1, maxLength: 253, ...rules(...hostRules("host")) })
    .describe("Host is the DNS name or the IP address at which the API server answers."),
  port: count(1, 65_535).describe("Port at which the API server answers."),
  type: z.enum(typeNames).meta(immutable()).describe("Type is what the endpoint is for."),
});

const endpointStatus = object({
  conditions: conditions.optional().describe("Conditions: Surfaced, Serving, Ready (both of these) and Paused."),
});

const statusOf = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;

/** Where the API server of a Cluster answers (the proposal of flexible endpoints, never built upstream). */
export const ClusterEndpoint = defineResource({
  group: "cluster.x-k8s.io",
  version: "v1beta1",
  kind: "ClusterEndpoint",
  plural: "clusterendpoints",
  shortNames: ["cep"],
  scope: "Namespaced",
  description: "Where the API server of a Cluster answers.",
  labels: { [CLUSTERCTL_LABEL]: "" },
  content: { spec: endpointSpec, status: endpointStatus.optional() },
  columns: [
    { name: "Cluster", path: ".spec.cluster" },
    { name: "Type", path: ".spec.type" },
    { name: "Host", path: ".spec.host" },
    { name: "Port", path: ".spec.port", type: "integer" },
    { name: "Surfaced", path: statusOf("Surfaced") },
    { name: "Ready", path: statusOf("Ready") },
  ],
});

/** Where the API server of a Cluster answers (the proposal of flexible endpoints, never built upstream). */
export type ClusterEndpoint = z.infer<typeof ClusterEndpoint.schema>;

import { z } from "zod";
import { objectReference } from "../schema/references.ts";
import { object, onceSet } from "../schema/fields.ts";
import { domain } from "../schema/syntax.ts";

const shootNetworks = object({
  pods: z.string().optional().describe("Pods is the CIDR of the pod network."),
  services: z.string().optional().describe("Services is the CIDR of the service network."),
});

/** SeedNetworks contains CIDRs for the pod, service and node networks of a Kubernetes cluster. */
export const seedNetworks = object({
  nodes: z.string().optional().describe("Nodes is the CIDR of the node network."),
  pods: z.string().describe("Pods is the CIDR of the pod network."),
  services: z.string().describe("Services is the CIDR of the service network."),
  shootDefaults: shootNetworks.optional().describe("ShootDefaults contains the default networks CIDRs for shoots."),
  blockCIDRs: z
    .array(z.string())
    .optional()
    .describe(
      "BlockCIDRs is a list of network addresses that should be blocked for shoot control plane components running in the seed cluster.",
    ),
  ipFamilies: z
    .array(z.enum(["IPv4", "IPv6"]))
    .meta({ default: ["IPv4"] })
    .optional()
    .describe("IPFamilies specifies the IP protocol versions to use for seed networking."),
}).meta(onceSet("pods", "services", "nodes"));

const seedDNSProvider = object({
  type: z.string().describe("Type describes the type of the dns-provider, for example 'aws-route53'"),
  credentialsRef: objectReference
    .optional()
    .describe(
      "CredentialsRef is a reference to a resource holding the credentials used for authentication with the DNS provider.",
    ),
});

const seedDNSProviderConfig = object({
  type: z.string().describe("Type is the type of the DNS provider."),
  domain: domain().describe("Domain is the domain name to be used by the DNS provider."),
  zone: z.string().optional().describe("Zone is the zone where the DNS records are managed."),
  credentialsRef: objectReference.describe(
    "CredentialsRef is a reference to a resource holding the credentials used for authentication with the DNS provider.",
  ),
});

/** SeedDNS contains DNS-relevant information about this seed cluster. */
export const seedDNS = object({
  provider: seedDNSProvider.optional().describe("Provider configures a DNSProvider"),
  internal: seedDNSProviderConfig
    .optional()
    .describe("Internal configures DNS settings related to seed internal domain."),
  defaults: z
    .array(seedDNSProviderConfig)
    .optional()
    .describe("Defaults configures DNS settings related to seed default domains."),
});

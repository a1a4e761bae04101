import { z } from "zod";
import { crossVersionReference } from "../schema/references.ts";
import { object, onceSet, raw } from "../schema/fields.ts";
import { dnsLabel, domain, line, network, optionalName } from "../schema/syntax.ts";

const dnsIncludeExclude = object({
  include: z
    .array(line(253))
    .meta({ maxItems: 100 })
    .optional()
    .describe("Include is a list of domains that shall be included."),
  exclude: z
    .array(line(253))
    .meta({ maxItems: 100 })
    .optional()
    .describe("Exclude is a list of domains that shall be excluded."),
});

const dnsProvider = object({
  domains: dnsIncludeExclude
    .optional()
    .describe(
      "Domains contains information about which domains shall be included/excluded for this provider. Deprecated.",
    ),
  primary: z
    .boolean()
    .optional()
    .describe("Primary indicates that this DNSProvider is used for shoot related domains. Deprecated."),
  secretName: optionalName()
    .optional()
    .describe(
      "SecretName is a name of a secret containing credentials for the stated domain and the provider. Deprecated.",
    ),
  type: dnsLabel().optional().describe("Type is the DNS provider type."),
  zones: dnsIncludeExclude
    .optional()
    .describe(
      "Zones contains information about which hosted zones shall be included/excluded for this provider. Deprecated.",
    ),
  credentialsRef: crossVersionReference
    .optional()
    .describe("CredentialsRef is a reference to a resource providing credentials for the DNS provider."),
});

/** DNS holds information about the provider, the hosted zone id and the domain. */
export const dns = object({
  domain: domain().optional().describe("Domain is the external available domain of the Shoot cluster."),
  providers: z
    .array(dnsProvider)
    .meta({ maxItems: 20 })
    .optional()
    .describe("Providers is a list of DNS providers that shall be enabled for this shoot cluster. Deprecated."),
}).meta(onceSet("domain"));

/** Networking defines networking parameters for the shoot cluster. */
export const networking = object({
  type: dnsLabel().optional().describe("Type identifies the type of the networking plugin."),
  providerConfig: raw().optional().describe("ProviderConfig is the configuration passed to network resource."),
  pods: network().optional().describe("Pods is the CIDR of the pod network."),
  nodes: network().optional().describe("Nodes is the CIDR of the entire node network."),
  services: network().optional().describe("Services is the CIDR of the service network."),
  ipFamilies: z
    .array(z.enum(["IPv4", "IPv6"]))
    .meta({ default: ["IPv4"], minItems: 1, maxItems: 2 })
    .optional()
    .describe("IPFamilies specifies the IP protocol versions to use for shoot networking."),
}).meta(onceSet("type", "pods", "services", "nodes"));

import { z } from "zod";
import { object, onceSet, rules } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { dnsLabel, dnsSubdomain, domain, labelValue } from "../schema/syntax.ts";
import { seedSelector } from "../core/seed-selector.ts";
import { conditions } from "./condition.ts";
import { defineTemplate, providerKind } from "./provider-kind.ts";

const endpoint = object({
  domain: domain()
    .meta(
      rules(
        {
          rule: "self.contains('.')",
          message: "is a single label, as top-level domains are: write a domain below it, such as one.example.com",
        },
        {
          rule: "!self.matches('[.](0x[0-9a-f]*|[0-9]+)$')",
          message: "ends in a number, as addresses do: write a domain that ends in a name, such as one.example.com",
        },
      ),
    )
    .describe("Domain of the Shoot. Its API server is at `api.` before it, port 443."),
});

const credentials = object({
  secretRef: object({ name: dnsSubdomain().describe("Name of the Secret, in the same namespace.") }).describe(
    'SecretRef names a Secret with label perennial.dev/garden-credentials: "true".',
  ),
  providerType: dnsLabel().describe("ProviderType is the type of the provider that the credentials are for."),
});

const shared = {
  credentials: credentials
    .optional()
    .describe(
      "Credentials are what the Shoot acts with at its provider, where its template names no binding. The garden gets a copy, and a CredentialsBinding.",
    ),
  endpoint: endpoint
    .optional()
    .describe(
      "Endpoint is reserved in the garden, and known as a ClusterEndpoint before there is a Shoot. The control plane asks for it by endpointFrom.",
    ),
  region: z.string().meta({ maxLength: 253 }).optional().describe("Region of the Shoot, where its template says none."),
  zones: z
    .array(labelValue())
    .meta({ maxItems: 30 })
    .optional()
    .describe("Zones are the failure domains that MachinePools choose from."),
  seedSelector: seedSelector.optional().describe("SeedSelector says which Seeds fit, where the template says nothing."),
};

const shootClusterSpec = object(shared).meta(
  rules(
    ...onceSet("region")["x-kubernetes-validations"],
    {
      rule: "!has(oldSelf.endpoint) || has(self.endpoint) && self.endpoint.domain == oldSelf.endpoint.domain",
      message: "cannot be changed once it is set: users and certificates know the API server by it",
      fieldPath: ".endpoint",
    },
    {
      rule: "!has(oldSelf.credentials) || has(self.credentials) && self.credentials.providerType == oldSelf.credentials.providerType",
      message: "cannot be taken away, nor become another provider's: the Shoot acts with them",
      fieldPath: ".credentials",
    },
  ),
);

const shootClusterStatus = object({
  initialization: object({
    provisioned: z.boolean().optional().describe("Provisioned says that all was there, once."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  failureDomains: z
    .array(
      object({
        name: z.string().describe("Name of the zone."),
        controlPlane: z
          .boolean()
          .optional()
          .describe("ControlPlane says whether control planes' machines may be there."),
      }),
    )
    .optional()
    .describe("FailureDomains are the zones that MachinePools choose from."),
  conditions: conditions.optional().describe("Conditions: Ready, Deleting and Paused."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the generation that the controller has acted on last."),
});

/** What a Shoot needs beside the service that makes it. An empty one is ready at once. */
export const ShootCluster = defineResource({
  ...providerKind("infrastructure"),
  kind: "ShootCluster",
  plural: "shootclusters",
  shortNames: ["scl"],
  description:
    "What a Shoot needs beside the service that makes it: credentials, a domain, a region, zones, Seeds that fit.",
  content: { spec: shootClusterSpec.optional(), status: shootClusterStatus.optional() },
  columns: [
    { name: "Cluster", path: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name" },
    { name: "Provisioned", path: ".status.initialization.provisioned", type: "boolean" },
    { name: "Ready", path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Domain", path: ".spec.endpoint.domain" },
    { name: "Region", path: ".spec.region", priority: 1 },
  ],
});

/** What a Shoot needs beside the service that makes it. */
export type ShootCluster = z.infer<typeof ShootCluster.schema>;

/** What the infrastructures of a ClusterClass are made from; an empty one stands for none. */
export const ShootClusterTemplate = defineTemplate({
  provider: "infrastructure",
  kind: "ShootClusterTemplate",
  plural: "shootclustertemplates",
  spec: object(shared).optional(),
});

/** What the infrastructures of a ClusterClass are made from. */
export type ShootClusterTemplate = z.infer<typeof ShootClusterTemplate.schema>;

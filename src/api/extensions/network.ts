import { z } from "zod";
import { DELETION_PROTECTED_LABEL } from "../annotations.ts";
import { defineResource } from "../schema/resource.ts";
import { openEnum, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";

const networkSpec = object({
  ...defaultSpec.shape,
  podCIDR: z.string().describe("PodCIDR defines the CIDR that will be used for pods."),
  serviceCIDR: z.string().describe("ServiceCIDR defines the CIDR that will be used for services."),
  ipFamilies: z
    .array(openEnum("IPv4", "IPv6"))
    .optional()
    .describe("IPFamilies specifies the IP protocol versions to use for shoot networking."),
});

const networkStatus = object({
  ...defaultStatus.shape,
  ipFamilies: z
    .array(openEnum("IPv4", "IPv6"))
    .optional()
    .describe("IPFamilies specifies the IP protocol versions that actually are used for shoot networking."),
});

/** The network between the pods of a Shoot. */
export const Network = defineResource({
  group: "extensions.gardener.cloud",
  version: "v1alpha1",
  kind: "Network",
  plural: "networks",
  scope: "Namespaced",
  description: "The network between the pods of a Shoot.",
  content: { spec: networkSpec, status: networkStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Pod CIDR", path: ".spec.podCIDR" },
    { name: "Service CIDR", path: ".spec.serviceCIDR" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  labels: { [DELETION_PROTECTED_LABEL]: "true" },
});

/** The network between the pods of a Shoot. */
export type Network = z.infer<typeof Network.schema>;

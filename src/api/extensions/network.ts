import { z } from "zod";
import { openEnum, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, seconds } from "./define-extension.ts";

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
export const Network = defineExtension({
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
  contract: {
    writer: "flow",
    stateful: true,
    cluster: "always",
    admission: "workers",
    types: ({ shoot }) => (shoot.spec.networking?.type === undefined ? [] : [shoot.spec.networking.type]),
    nameOf: ({ name }) => name,
    severeAfter: seconds(30),
    deadline: minutes(3),
    trigger: "always",
  },
});

/** The network between the pods of a Shoot. */
export type Network = z.infer<typeof Network.schema>;

import { z } from "zod";
import { secretReference } from "../schema/references.ts";
import { bytes, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, providerType } from "./define-extension.ts";

const infrastructureSpec = object({
  ...defaultSpec.shape,
  region: z.string().describe("Region is the region of this infrastructure."),
  secretRef: secretReference.describe(
    "SecretRef is a reference to a secret that contains the cloud provider credentials.",
  ),
  sshPublicKey: bytes()
    .optional()
    .describe("SSHPublicKey is the public SSH key that should be used with this infrastructure."),
});

const infrastructureStatusNetworking = object({
  pods: z.array(z.string()).optional().describe("Pods are the CIDRs of the pod network."),
  nodes: z.array(z.string()).optional().describe("Nodes are the CIDRs of the node network."),
  services: z.array(z.string()).optional().describe("Services are the CIDRs of the service network."),
});

const infrastructureStatus = object({
  ...defaultStatus.shape,
  nodesCIDR: z
    .string()
    .optional()
    .describe(
      "NodesCIDR is the CIDR of the node network that was optionally created by the acting extension controller.",
    ),
  egressCIDRs: z
    .array(z.string())
    .optional()
    .describe("EgressCIDRs is a list of CIDRs used by the shoot as the source IP for egress traffic."),
  networking: infrastructureStatusNetworking
    .optional()
    .describe("Networking contains information about cluster networking such as CIDRs."),
});

/** A Shoot's networks, routers and identities at its cloud provider; all else is built on them. */
export const Infrastructure = defineExtension({
  kind: "Infrastructure",
  plural: "infrastructures",
  shortNames: ["infra"],
  scope: "Namespaced",
  description: "What a Shoot needs from its cloud provider before anything else: networks, routers, identities.",
  content: { spec: infrastructureSpec, status: infrastructureStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Region", path: ".spec.region" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  contract: {
    writer: "flow",
    stateful: true,
    cluster: "always",
    admission: "workers",
    types: providerType,
    nameOf: ({ name }) => name,
    severeAfter: minutes(3),
    deadline: minutes(10),
    trigger: "onChange",
  },
});

/** A Shoot's networks, routers and identities at its cloud provider; all else is built on them. */
export type Infrastructure = z.infer<typeof Infrastructure.schema>;

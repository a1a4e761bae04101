import { z } from "zod";
import { ipBlock, loadBalancerIngress } from "../schema/references.ts";
import { bytes, object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, providerType } from "./define-extension.ts";

const bastionIngressPolicy = object({
  ipBlock: ipBlock.describe("IPBlock defines an IP block that is allowed to access the bastion."),
});

const bastionSpec = object({
  ...defaultSpec.shape,
  userData: bytes()
    .meta({ maxLength: 1_048_576 })
    .describe("UserData is the base64-encoded user data for the bastion instance."),
  ingress: z
    .array(bastionIngressPolicy)
    .describe("Ingress controls from where the created bastion host should be reachable."),
});

const bastionStatus = object({
  ...defaultStatus.shape,
  ingress: loadBalancerIngress.optional().describe("Ingress is the external IP and/or hostname of the bastion host."),
});

/** A machine through which the machines of a Shoot can be reached for a while. */
export const Bastion = defineExtension({
  kind: "Bastion",
  plural: "bastions",
  scope: "Namespaced",
  description: "A machine through which the machines of a Shoot can be reached for a while.",
  content: { spec: bastionSpec, status: bastionStatus.optional() },
  columns: [
    { name: "IP", path: ".status.ingress.ip" },
    { name: "Hostname", path: ".status.ingress.hostname" },
  ],
  deletionProtected: false,
  contract: {
    writer: "seed",
    stateful: false,
    cluster: "always",
    admission: "none",
    types: providerType,
  },
});

/** A machine through which the machines of a Shoot can be reached for a while. */
export type Bastion = z.infer<typeof Bastion.schema>;

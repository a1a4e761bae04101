import { z } from "zod";
import { loadBalancerIngress, nodeAddress, objectReference } from "../schema/references.ts";
import { object } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension } from "./define-extension.ts";

const controlPlaneEndpoint = object({
  nodeName: z.string().describe("NodeName is the name of the node to expose."),
  addresses: z.array(nodeAddress).describe("Addresses is a list of addresses of type NodeAddress to expose."),
});

const selfHostedShootExposureSpec = object({
  ...defaultSpec.shape,
  credentialsRef: objectReference
    .optional()
    .describe("CredentialsRef is a reference to the cloud provider credentials."),
  port: z.int32().describe("Port is the port number that should be exposed by the exposure mechanism."),
  endpoints: z
    .array(controlPlaneEndpoint)
    .describe("Endpoints contains a list of healthy control plane nodes to expose."),
});

const selfHostedShootExposureStatus = object({
  ...defaultStatus.shape,
  ingress: z
    .array(loadBalancerIngress)
    .optional()
    .describe("Ingress is a list of endpoints of the exposure mechanism."),
});

/** How the API server of a Shoot that hosts its own control plane is reached. */
export const SelfHostedShootExposure = defineExtension({
  kind: "SelfHostedShootExposure",
  plural: "selfhostedshootexposures",
  shortNames: ["exp"],
  scope: "Namespaced",
  description: "How the API server of a Shoot that hosts its own control plane is reached.",
  content: { spec: selfHostedShootExposureSpec, status: selfHostedShootExposureStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "IP", path: ".status.ingress[0].ip" },
    { name: "Hostname", path: ".status.ingress[0].hostname" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  deletionProtected: false,
  contract: {
    writer: "other",
    stateful: true,
    cluster: "sometimes",
    admission: "none",
    types: () => [],
  },
});

/** How the API server of a Shoot that hosts its own control plane is reached. */
export type SelfHostedShootExposure = z.infer<typeof SelfHostedShootExposure.schema>;

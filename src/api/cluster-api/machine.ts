import { z } from "zod";
import { object } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { conditions } from "./condition.ts";
import { contractReference } from "./references.ts";

const bootstrap = object({
  configRef: contractReference.optional().describe("ConfigRef names what makes the bootstrap data."),
  dataSecretName: z.string().optional().describe("DataSecretName is the Secret with the bootstrap data; may be empty."),
});

/** What a Machine is to be; a pool has a template of it. */
export const machineSpec = object({
  clusterName: z.string().describe("ClusterName is the name of the Cluster."),
  bootstrap: bootstrap.describe("Bootstrap is how the machine becomes a node."),
  infrastructureRef: contractReference.describe("InfrastructureRef names what makes the machine."),
  version: z.string().optional().describe("Version is the Kubernetes version."),
  providerID: z.string().optional().describe("ProviderID is the name that the infrastructure gives the machine."),
  failureDomain: z.string().optional().describe("FailureDomain is where the machine stands."),
});

const machineStatus = object({
  conditions: conditions.optional().describe("Conditions of the Machine."),
  nodeRef: object({ name: z.string().describe("Name of the Node.") })
    .optional()
    .describe("NodeRef names the Node that the machine is."),
  addresses: z
    .array(
      object({
        type: z.string().describe("Type is Hostname, ExternalIP, InternalIP, ExternalDNS or InternalDNS."),
        address: z.string().describe("Address is the address."),
      }),
    )
    .optional()
    .describe("Addresses of the machine."),
  phase: z.string().optional().describe("Phase of the machine's life."),
});

/** A machine of a Cluster, as far as we read it. Its CustomResourceDefinition is Cluster API's own. */
export const Machine = defineResource({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Machine",
  plural: "machines",
  scope: "Namespaced",
  description: "A machine of a Cluster.",
  content: { spec: machineSpec, status: machineStatus.optional() },
});

/** A machine of a Cluster, as far as we read it. Its CustomResourceDefinition is Cluster API's own. */
export type Machine = z.infer<typeof Machine.schema>;

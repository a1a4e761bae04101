import { z } from "zod";
import { object } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { objectReference } from "../schema/references.ts";
import { conditions } from "./condition.ts";
import { machineSpec } from "./machine.ts";

const machineTemplate = object({
  metadata: object({
    labels: z.record(z.string(), z.string()).optional().describe("Labels of the machines."),
    annotations: z.record(z.string(), z.string()).optional().describe("Annotations of the machines."),
  })
    .optional()
    .describe("Metadata of the machines."),
  spec: machineSpec.describe("Spec is what each machine is to be."),
});

const machinePoolSpec = object({
  clusterName: z.string().describe("ClusterName is the name of the Cluster."),
  replicas: z.int().optional().describe("Replicas is how many machines there are to be."),
  template: machineTemplate.describe("Template is what the machines are to be."),
  providerIDList: z.array(z.string()).optional().describe("ProviderIDList names the machines that there are."),
  failureDomains: z.array(z.string()).optional().describe("FailureDomains are where machines may stand."),
});

const machinePoolStatus = object({
  conditions: conditions.optional().describe("Conditions of the MachinePool."),
  initialization: object({
    infrastructureProvisioned: z
      .boolean()
      .optional()
      .describe("InfrastructureProvisioned says that the machines were made, once."),
    bootstrapDataSecretCreated: z
      .boolean()
      .optional()
      .describe("BootstrapDataSecretCreated says that there was bootstrap data, once."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  nodeRefs: z.array(objectReference).optional().describe("NodeRefs name the Nodes that the machines are."),
  replicas: z.int().optional().describe("Replicas is how many machines there are."),
  readyReplicas: z.int().optional().describe("ReadyReplicas is how many of the Nodes are ready."),
  phase: z.string().optional().describe("Phase of the pool's life."),
});

/** A pool of equal machines of a Cluster, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export const MachinePool = defineResource({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachinePool",
  plural: "machinepools",
  scope: "Namespaced",
  description: "A pool of equal machines of a Cluster.",
  content: { spec: machinePoolSpec, status: machinePoolStatus.optional() },
});

/** A pool of equal machines of a Cluster, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export type MachinePool = z.infer<typeof MachinePool.schema>;

import { z } from "zod";
import { immutable, object, rules } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { count, dnsLabel } from "../schema/syntax.ts";
import { worker } from "../shoot/provider.ts";
import { conditions } from "./condition.ts";
import { defineTemplate, providerKind } from "./provider-kind.ts";

const { minimum: _minimum, maximum: _maximum, name: _name, ...workerShape } = worker.shape;

const poolShape = {
  ...workerShape,
  minimum: count().optional().describe("Minimum number of machines, where an autoscaler decides about the replicas."),
  maximum: count().optional().describe("Maximum number of machines, where an autoscaler decides about the replicas."),
};

const machinePoolSpec = object({
  name: dnsLabel(15)
    .meta(immutable())
    .optional()
    .describe(
      "Name of the row in the Shoot's workers. Without it, the topology's name or the object's is taken, if it is short.",
    ),
  ...poolShape,
  providerIDList: z
    .array(z.string())
    .optional()
    .describe("ProviderIDList names the machines that are Nodes of the Shoot. The controller writes it."),
}).meta(
  rules({
    rule: "has(self.name) == has(oldSelf.name)",
    message: "cannot be changed: create another pool",
    fieldPath: ".name",
  }),
);

const machinePoolStatus = object({
  ready: z
    .boolean()
    .optional()
    .describe("Ready says what initialization.provisioned says; core 1.14 reads it of pools."),
  replicas: z.int32().optional().describe("Replicas is how many of the pool's machines are Nodes of the Shoot."),
  initialization: object({
    provisioned: z.boolean().optional().describe("Provisioned says that the pool's machines were there, once."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  conditions: conditions.optional().describe("Conditions: Ready and Paused."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the generation that the controller has acted on last."),
});

/** The machines of a MachinePool: a row of a Shoot's workers. The MachinePool says how many, and in which zones. */
export const ShootMachinePool = defineResource({
  ...providerKind("infrastructure"),
  kind: "ShootMachinePool",
  plural: "shootmachinepools",
  shortNames: ["smp"],
  description: "The machines of a MachinePool: a row of a Shoot's workers.",
  content: { spec: machinePoolSpec, status: machinePoolStatus.optional() },
  columns: [
    { name: "Cluster", path: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name" },
    { name: "Replicas", path: ".status.replicas", type: "integer" },
    { name: "Ready", path: '.status.conditions[?(@.type=="Ready")].status' },
  ],
});

/** The machines of a MachinePool: a row of a Shoot's workers. */
export type ShootMachinePool = z.infer<typeof ShootMachinePool.schema>;

/** What the machine pools of a ClusterClass are made from. */
export const ShootMachinePoolTemplate = defineTemplate({
  provider: "infrastructure",
  kind: "ShootMachinePoolTemplate",
  plural: "shootmachinepooltemplates",
  spec: object(poolShape),
});

/** What the machine pools of a ClusterClass are made from. */
export type ShootMachinePoolTemplate = z.infer<typeof ShootMachinePoolTemplate.schema>;

import { z } from "zod";
import { object } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { conditions } from "./condition.ts";
import { contractReference } from "./references.ts";

const endpoint = object({
  host: z.string().optional().describe("Host at which the API server answers."),
  port: z.int().optional().describe("Port at which the API server answers."),
});

const ranges = object({ cidrBlocks: z.array(z.string()).describe("CIDRBlocks are the ranges.") });

const network = object({
  apiServerPort: z.int().optional().describe("APIServerPort is the port that API servers bind to."),
  services: ranges.optional().describe("Services are the ranges of Services."),
  pods: ranges.optional().describe("Pods are the ranges of pods."),
  serviceDomain: z.string().optional().describe("ServiceDomain is the DNS domain of Services."),
});

const topology = object({
  classRef: object({
    name: z.string().describe("Name of the ClusterClass."),
    namespace: z.string().optional().describe("Namespace of the ClusterClass; the Cluster's own without it."),
  }).describe("ClassRef names the ClusterClass."),
  version: z.string().describe("Version is the Kubernetes version."),
});

const availabilityGate = object({
  conditionType: z.string().describe("ConditionType is a condition of the Cluster."),
  polarity: z.string().optional().describe("Polarity is Positive or Negative."),
});

const clusterSpec = object({
  paused: z
    .boolean()
    .optional()
    .describe("Paused stops the controllers of the Cluster and of all that it consists of."),
  clusterNetwork: network.optional().describe("ClusterNetwork is what is known of the Cluster's networks."),
  controlPlaneEndpoint: endpoint.optional().describe("ControlPlaneEndpoint is where the API server answers."),
  controlPlaneRef: contractReference.optional().describe("ControlPlaneRef names the control plane."),
  infrastructureRef: contractReference.optional().describe("InfrastructureRef names the infrastructure."),
  topology: topology.optional().describe("Topology is what a ClusterClass makes the Cluster of."),
  availabilityGates: z
    .array(availabilityGate)
    .optional()
    .describe("AvailabilityGates are further conditions that count into Available."),
});

const clusterStatus = object({
  conditions: conditions.optional().describe("Conditions of the Cluster."),
  initialization: object({
    infrastructureProvisioned: z
      .boolean()
      .optional()
      .describe("InfrastructureProvisioned says that the infrastructure was made, once."),
    controlPlaneInitialized: z
      .boolean()
      .optional()
      .describe("ControlPlaneInitialized says that the control plane has taken requests, once."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  phase: z.string().optional().describe("Phase is Pending, Provisioning, Provisioned, Deleting, Failed or Unknown."),
  observedGeneration: z.int().optional().describe("ObservedGeneration is the generation that the core manager saw."),
});

/** A cluster of Cluster API, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export const Cluster = defineResource({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  scope: "Namespaced",
  description: "A cluster of Cluster API.",
  content: { spec: clusterSpec, status: clusterStatus.optional() },
});

/** A cluster of Cluster API, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export type Cluster = z.infer<typeof Cluster.schema>;

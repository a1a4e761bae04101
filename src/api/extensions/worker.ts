import { z } from "zod";
import { kubeletConfig } from "../shoot/kubelet.ts";
import { secretKeySelector, secretReference, taint } from "../schema/references.ts";
import { bytes, intOrString, object, raw, timestamp } from "../schema/fields.ts";
import { duration, quantity } from "../schema/syntax.ts";
import { machineControllerManagerSettings } from "../shoot/machines.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, providerType, seconds } from "./define-extension.ts";

const machineImage = object({
  name: z.string().describe("Name is the logical name of the machine image."),
  version: z.string().describe("Version is the version of the machine image."),
});

const volume = object({
  name: z.string().optional().describe("Name of the volume to make it referenceable."),
  type: z.string().optional().describe("Type is the type of the volume."),
  size: z.string().describe("Size is the of the root volume."),
  encrypted: z.boolean().optional().describe("Encrypted determines if the volume should be encrypted."),
});

const dataVolume = object({
  name: z.string().describe("Name of the volume to make it referenceable."),
  type: z.string().optional().describe("Type is the type of the volume."),
  size: z.string().describe("Size is the of the root volume."),
  encrypted: z.boolean().optional().describe("Encrypted determines if the volume should be encrypted."),
});

const nodeTemplate = object({
  capacity: z.record(z.string(), quantity()).describe("Capacity represents the expected Node capacity."),
  virtualCapacity: z
    .record(z.string(), quantity())
    .optional()
    .describe(
      "VirtualCapacity represents the expected Node 'virtual' capacity ie comprising virtual extended resources.",
    ),
});

const clusterAutoscalerOptions = object({
  scaleDownUtilizationThreshold: z
    .string()
    .optional()
    .describe(
      "ScaleDownUtilizationThreshold defines the threshold in fraction (0.0 - 1.0) under which a node is being removed.",
    ),
  scaleDownGpuUtilizationThreshold: z
    .string()
    .optional()
    .describe(
      "ScaleDownGpuUtilizationThreshold defines the threshold in fraction (0.0 - 1.0) of gpu resources under which a node is being removed.",
    ),
  scaleDownUnneededTime: duration()
    .optional()
    .describe("ScaleDownUnneededTime defines how long a node should be unneeded before it is eligible for scale down."),
  scaleDownUnreadyTime: duration()
    .optional()
    .describe(
      "ScaleDownUnreadyTime defines how long an unready node should be unneeded before it is eligible for scale down.",
    ),
  maxNodeProvisionTime: duration()
    .optional()
    .describe("MaxNodeProvisionTime defines how long cluster autoscaler should wait for a node to be provisioned."),
});

const workerPool = object({
  machineType: z
    .string()
    .describe("MachineType contains information about the machine type that should be used for this worker pool."),
  maximum: z.int32().describe("Maximum is the maximum size of the worker pool."),
  maxSurge: intOrString().describe("MaxSurge is maximum number of VMs that are created during an update."),
  maxUnavailable: intOrString().describe(
    "MaxUnavailable is the maximum number of VMs that can be unavailable during an update.",
  ),
  annotations: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Annotations is a map of key/value pairs for annotations for all the 'Node' objects in this worker pool.",
    ),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe("Labels is a map of key/value pairs for labels for all the 'Node' objects in this worker pool."),
  taints: z
    .array(taint)
    .optional()
    .describe("Taints is a list of taints for all the 'Node' objects in this worker pool."),
  machineImage: machineImage
    .optional()
    .describe(
      "MachineImage contains logical information about the name and the version of the machie image that should be used.",
    ),
  minimum: z.int32().describe("Minimum is the minimum size of the worker pool."),
  name: z.string().describe("Name is the name of this worker pool."),
  nodeAgentSecretName: z
    .string()
    .optional()
    .describe("NodeAgentSecretName is uniquely identifying selected aspects of the OperatingSystemConfig."),
  providerConfig: raw().optional().describe("ProviderConfig is a provider specific configuration for the worker pool."),
  userDataSecretRef: secretKeySelector.describe(
    "UserDataSecretRef references a Secret and a data key containing the data that is sent to the provider's APIs when a new machine/VM that is part of this worker pool shall be spawned.",
  ),
  volume: volume
    .optional()
    .describe("Volume contains information about the root disks that should be used for this worker pool."),
  dataVolumes: z.array(dataVolume).optional().describe("DataVolumes contains a list of additional worker volumes."),
  kubeletDataVolumeName: z
    .string()
    .optional()
    .describe("KubeletDataVolumeName contains the name of a dataVolume that should be used for storing kubelet state."),
  zones: z
    .array(z.string())
    .optional()
    .describe("Zones contains information about availability zones for this worker pool."),
  machineControllerManager: machineControllerManagerSettings
    .optional()
    .describe("MachineControllerManagerSettings contains configurations for different worker-pools."),
  kubernetesVersion: z.string().optional().describe("KubernetesVersion is the kubernetes version in this worker pool"),
  kubeletConfig: kubeletConfig
    .optional()
    .describe("KubeletConfig contains the kubelet configuration for the worker pool."),
  nodeTemplate: nodeTemplate
    .optional()
    .describe(
      "NodeTemplate contains resource information of the machine which is used by Cluster Autoscaler to generate nodeTemplate during scaling a nodeGroup",
    ),
  architecture: z
    .string()
    .optional()
    .describe("Architecture is the CPU architecture of the worker pool machines and machine image."),
  clusterAutoscaler: clusterAutoscalerOptions
    .optional()
    .describe("ClusterAutoscaler contains the cluster autoscaler configurations for the worker pool."),
  priority: z
    .int32()
    .optional()
    .describe(
      "Priority (or weight) is the importance by which this worker pool will be scaled by cluster autoscaling.",
    ),
  updateStrategy: z
    .string()
    .optional()
    .describe("UpdateStrategy specifies the machine update strategy for the worker pool."),
});

const workerSpec = object({
  ...defaultSpec.shape,
  infrastructureProviderStatus: raw()
    .optional()
    .describe(
      "InfrastructureProviderStatus is a raw extension field that contains the provider status that has been generated by the controller responsible for the 'Infrastructure' resource.",
    ),
  region: z.string().describe("Region is the name of the region where the worker pool should be deployed to."),
  secretRef: secretReference.describe(
    "SecretRef is a reference to a secret that contains the cloud provider specific credentials.",
  ),
  sshPublicKey: bytes()
    .optional()
    .describe("SSHPublicKey is the public SSH key that should be used with these workers."),
  pools: z.array(workerPool).describe("Pools is a list of worker pools."),
});

const machineDeployment = object({
  name: z.string().describe("Name is the name of the 'MachineDeployment' resource."),
  minimum: z.int32().describe("Minimum is the minimum number for this machine deployment."),
  maximum: z.int32().describe("Maximum is the maximum number for this machine deployment."),
  priority: z
    .int32()
    .optional()
    .describe(
      "Priority (or weight) is the importance by which this machine deployment will be scaled by cluster autoscaling.",
    ),
  autoPreserveFailedMachineMax: z
    .int32()
    .optional()
    .describe(
      "AutoPreserveFailedMachineMax is the maximum number of machines in the machine deployment that can be auto-preserved by MCM.",
    ),
});

const inPlaceUpdatesWorkerStatus = object({
  workerPoolToHashMap: z
    .record(z.string(), z.string())
    .optional()
    .describe("WorkerPoolToHashMap is a map of worker pool names to their corresponding hash."),
});

const workerStatus = object({
  ...defaultStatus.shape,
  machineDeployments: z
    .array(machineDeployment)
    .optional()
    .describe("MachineDeployments is a list of created machine deployments."),
  machineDeploymentsLastUpdateTime: timestamp()
    .optional()
    .describe(
      "MachineDeploymentsLastUpdateTime is the timestamp when the status.MachineDeployments slice was last updated.",
    ),
  inPlaceUpdates: inPlaceUpdatesWorkerStatus
    .optional()
    .describe("InPlaceUpdates contains the status for in-place updates."),
});

/** The machines of a Shoot, in pools. */
export const Worker = defineExtension({
  kind: "Worker",
  plural: "workers",
  scope: "Namespaced",
  description: "The machines of a Shoot, in pools.",
  content: { spec: workerSpec, status: workerStatus.optional() },
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
    severeAfter: seconds(30),
    deadline: minutes(10),
    trigger: "always",
  },
});

/** The machines of a Shoot, in pools. */
export type Worker = z.infer<typeof Worker.schema>;

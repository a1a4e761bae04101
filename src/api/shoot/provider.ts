import { z } from "zod";
import { backup } from "../core/backup.ts";
import { kubeletConfig } from "./kubelet.ts";
import { taint } from "../schema/references.ts";
import { listMap, object, onceSet, raw, rules } from "../schema/fields.ts";
import { count, dnsLabel, duration, identifier, labelValue, quantityText, share, version } from "../schema/syntax.ts";
import { cri, machineControllerManagerSettings } from "./machines.ts";

const workerKubernetes = object({
  kubelet: kubeletConfig
    .optional()
    .describe("Kubelet contains configuration settings for all kubelets of this worker pool."),
  version: version()
    .optional()
    .describe("Version is the semantic Kubernetes version to use for the Kubelet in this Worker Group."),
});

const shootMachineImage = object({
  name: labelValue().describe("Name is the name of the image."),
  providerConfig: raw()
    .optional()
    .describe("ProviderConfig is the shoot's individual configuration passed to an extension resource."),
  version: labelValue().optional().describe("Version is the version of the shoot's image."),
});

const machine = object({
  type: identifier().describe("Type is the machine type of the worker group."),
  image: shootMachineImage
    .optional()
    .describe("Image holds information about the machine image to use for all nodes of this pool."),
  architecture: z
    .string()
    .meta({ enum: ["amd64", "arm64"], default: "amd64" })
    .optional()
    .describe("Architecture is CPU architecture of machines in this worker pool."),
});

const volume = object({
  name: dnsLabel().optional().describe("Name of the volume to make it referenceable."),
  type: identifier().optional().describe("Type is the type of the volume."),
  size: quantityText().describe("VolumeSize is the size of the volume."),
  encrypted: z.boolean().optional().describe("Encrypted determines if the volume should be encrypted."),
});

const dataVolume = object({
  name: dnsLabel().describe("Name of the volume to make it referenceable."),
  type: identifier().optional().describe("Type is the type of the volume."),
  size: quantityText().describe("VolumeSize is the size of the volume."),
  encrypted: z.boolean().optional().describe("Encrypted determines if the volume should be encrypted."),
});

const workerSystemComponents = object({
  allow: z
    .boolean()
    .describe(
      "Allow determines whether the pool should be allowed to host system components or not (defaults to true)",
    ),
});

const clusterAutoscalerOptions = object({
  scaleDownUtilizationThreshold: z
    .number()
    .meta({ minimum: 0, maximum: 1 })
    .optional()
    .describe(
      "ScaleDownUtilizationThreshold defines the threshold in fraction (0.0 - 1.0) under which a node is being removed.",
    ),
  scaleDownGpuUtilizationThreshold: z
    .number()
    .meta({ minimum: 0, maximum: 1 })
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
    .describe("MaxNodeProvisionTime defines how long CA waits for node to be provisioned."),
});

const exposureExtension = object({
  type: z
    .string()
    .optional()
    .describe("Type is the type of the extension that exposes the control plane; without it, the provider's type."),
  providerConfig: raw().optional().describe("ProviderConfig is the configuration passed to the extension."),
});

const controlPlaneExposure = object({
  extension: exposureExtension
    .optional()
    .describe("Extension exposes the control plane by a SelfHostedShootExposure resource."),
  dns: raw().optional().describe("DNS exposes the control plane by a DNSRecord with the addresses of its nodes."),
}).meta(
  rules({
    rule: "has(self.extension) != has(self.dns)",
    message: "say either extension or dns",
  }),
);

const workerControlPlane = object({
  backup: backup.optional().describe("Backup holds the object store configuration for the backups of etcd."),
  exposure: controlPlaneExposure.optional().describe("Exposure says how the control plane is reached from elsewhere."),
});

/** Worker is the base definition of a worker group. */
export const worker = object({
  annotations: z
    .record(z.string(), z.string().meta({ maxLength: 16_384 }))
    .meta({ maxProperties: 100 })
    .optional()
    .describe(
      "Annotations is a map of key/value pairs for annotations for all the 'Node' objects in this worker pool.",
    ),
  caBundle: z
    .string()
    .meta({ maxLength: 262_144 })
    .optional()
    .describe("CABundle is a certificate bundle which will be installed onto every machine of this worker pool."),
  cri: cri
    .meta({ default: { name: "containerd" } })
    .optional()
    .describe("CRI contains configurations of CRI support of every machine in the worker pool."),
  kubernetes: workerKubernetes
    .optional()
    .describe("Kubernetes contains configuration for Kubernetes components related to this worker pool."),
  labels: z
    .record(z.string(), labelValue())
    .meta({ maxProperties: 100 })
    .optional()
    .describe("Labels is a map of key/value pairs for labels for all the 'Node' objects in this worker pool."),
  name: dnsLabel(15).describe("Name is the name of the worker group."),
  machine: machine.describe("Machine contains information about the machine type and image."),
  maximum: count().describe("Maximum is the maximum number of machines to create."),
  minimum: count().describe("Minimum is the minimum number of machines to create."),
  maxSurge: share()
    .meta({ default: 1 })
    .optional()
    .describe("MaxSurge is maximum number of machines that are created during an update."),
  maxUnavailable: share()
    .meta({ default: 0 })
    .optional()
    .describe("MaxUnavailable is the maximum number of machines that can be unavailable during an update."),
  providerConfig: raw()
    .optional()
    .describe("ProviderConfig is the provider-specific configuration for this worker pool."),
  taints: z
    .array(taint)
    .meta({ maxItems: 50 })
    .optional()
    .describe("Taints is a list of taints for all the 'Node' objects in this worker pool."),
  volume: volume.optional().describe("Volume contains information about the volume type and size."),
  dataVolumes: z
    .array(dataVolume)
    .meta({ maxItems: 50 })
    .optional()
    .describe("DataVolumes contains a list of additional worker volumes."),
  kubeletDataVolumeName: dnsLabel()
    .optional()
    .describe("KubeletDataVolumeName contains the name of a dataVolume that should be used for storing kubelet state."),
  zones: z
    .array(labelValue())
    .meta({ maxItems: 30 })
    .optional()
    .describe("Zones is a list of availability zones that are used to evenly distribute this worker pool."),
  systemComponents: workerSystemComponents
    .meta({ default: { allow: true } })
    .optional()
    .describe("SystemComponents contains configuration for system components related to this worker pool"),
  machineControllerManager: machineControllerManagerSettings
    .optional()
    .describe("MachineControllerManagerSettings contains configurations for different worker-pools."),
  sysctls: z
    .record(z.string(), z.string())
    .optional()
    .describe("Sysctls is a map of kernel settings to apply on all machines in this worker pool."),
  clusterAutoscaler: clusterAutoscalerOptions
    .optional()
    .describe("ClusterAutoscaler contains the cluster autoscaler configurations for the worker pool."),
  priority: z
    .int32()
    .optional()
    .describe(
      "Priority (or weight) is the importance by which this worker group will be scaled by cluster autoscaling.",
    ),
  updateStrategy: z
    .enum(["AutoRollingUpdate", "AutoInPlaceUpdate", "ManualInPlaceUpdate"])
    .meta({ default: "AutoRollingUpdate" })
    .optional()
    .describe("UpdateStrategy specifies the machine update strategy for the worker pool."),
  controlPlane: workerControlPlane
    .optional()
    .describe(
      "ControlPlane specifies that the shoot cluster control plane components should be running in this worker pool.",
    ),
});

const sshAccess = object({
  enabled: z
    .boolean()
    .describe(
      "Enabled indicates whether the SSH access to the worker nodes is ensured to be enabled or disabled in systemd.",
    ),
});

const workersSettings = object({
  sshAccess: sshAccess.optional().describe("SSHAccess contains settings regarding ssh access to the worker nodes."),
});

/** Provider contains provider-specific information that are handed-over to the provider-specific extension controller. */
export const provider = object({
  type: dnsLabel().describe("Type is the type of the provider."),
  controlPlaneConfig: raw()
    .optional()
    .describe("ControlPlaneConfig contains the provider-specific control plane config blob."),
  infrastructureConfig: raw()
    .optional()
    .describe("InfrastructureConfig contains the provider-specific infrastructure config blob."),
  workers: z
    .array(worker)
    .meta({ ...listMap("name"), maxItems: 100 })
    .optional()
    .describe("Workers is a list of worker groups."),
  workersSettings: workersSettings.optional().describe("WorkersSettings contains settings for all workers."),
}).meta({
  "x-kubernetes-validations": [
    ...onceSet("type")["x-kubernetes-validations"],
    {
      rule: "(has(self.workers) && size(self.workers) > 0) == (has(oldSelf.workers) && size(oldSelf.workers) > 0)",
      message: "a Shoot cannot get its first or lose its last worker pool: create another Shoot",
      fieldPath: ".workers",
    },
  ],
});

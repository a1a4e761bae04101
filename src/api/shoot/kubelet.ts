import { z } from "zod";
import { object } from "../schema/fields.ts";
import { amountOrShare, camelCase, count, duration, quantity } from "../schema/syntax.ts";

/** Settings that all components of Kubernetes have. */
export const kubernetesConfig = object({
  featureGates: z
    .record(z.string(), z.boolean())
    .meta({ maxProperties: 200 })
    .optional()
    .describe("FeatureGates contains information about enabled feature gates."),
});

const kubeletConfigReserved = object({
  cpu: quantity().optional().describe("CPU is the reserved cpu."),
  memory: quantity().optional().describe("Memory is the reserved memory."),
  ephemeralStorage: quantity().optional().describe("EphemeralStorage is the reserved ephemeral-storage."),
  pid: quantity().optional().describe("PID is the reserved process-ids."),
});

/** A value for each signal that makes a kubelet evict pods. */
function eviction<Value extends z.ZodType>(value: () => Value) {
  return object({
    memoryAvailable: value().optional().describe("Of the node's memory."),
    imageFSAvailable: value().optional().describe("Of the room for images."),
    imageFSInodesFree: value().optional().describe("Of the inodes for images."),
    nodeFSAvailable: value().optional().describe("Of the room for everything else."),
    nodeFSInodesFree: value().optional().describe("Of the inodes for everything else."),
  });
}

const memorySwap = object({
  swapBehavior: z
    .string()
    .meta({ enum: ["NoSwap", "LimitedSwap"] })
    .optional()
    .describe("SwapBehavior says whether pods may use the node's swap: NoSwap or LimitedSwap."),
});

/** KubeletConfig contains configuration settings for the kubelet. */
export const kubeletConfig = object({
  ...kubernetesConfig.shape,
  cpuCFSQuota: z.boolean().optional().describe("CPUCFSQuota allows you to disable/enable CPU throttling for Pods."),
  cpuManagerPolicy: z
    .string()
    .meta({ enum: ["none", "static"] })
    .optional()
    .describe("CPUManagerPolicy allows to set alternative CPU management policies (default: none)."),
  evictionHard: eviction(amountOrShare)
    .optional()
    .describe(
      "EvictionHard describes a set of eviction thresholds (e.g. memory.available<1Gi) that if met would trigger a Pod eviction.",
    ),
  evictionMaxPodGracePeriod: count()
    .optional()
    .describe(
      "EvictionMaxPodGracePeriod describes the maximum allowed grace period (in seconds) to use when terminating pods in response to a soft eviction threshold being met.",
    ),
  evictionMinimumReclaim: eviction(amountOrShare)
    .optional()
    .describe(
      "EvictionMinimumReclaim configures the amount of resources below the configured eviction threshold that the kubelet attempts to reclaim whenever the kubelet observes resource pressure.",
    ),
  evictionPressureTransitionPeriod: duration()
    .optional()
    .describe(
      "EvictionPressureTransitionPeriod is the duration for which the kubelet has to wait before transitioning out of an eviction pressure condition.",
    ),
  evictionSoft: eviction(amountOrShare)
    .optional()
    .describe(
      "EvictionSoft describes a set of eviction thresholds (e.g. memory.available<1.5Gi) that if met over a corresponding grace period would trigger a Pod eviction.",
    ),
  evictionSoftGracePeriod: eviction(duration)
    .optional()
    .describe(
      "EvictionSoftGracePeriod describes a set of eviction grace periods (e.g. memory.available=1m30s) that correspond to how long a soft eviction threshold must hold before triggering a Pod eviction.",
    ),
  maxPods: count(1).optional().describe("MaxPods is the maximum number of Pods that are allowed by the Kubelet."),
  podPidsLimit: z
    .int()
    .meta({ minimum: 100 })
    .optional()
    .describe("PodPIDsLimit is the maximum number of process IDs per pod allowed by the kubelet."),
  failSwapOn: z
    .boolean()
    .optional()
    .describe("FailSwapOn makes the Kubelet fail to start if swap is enabled on the node. (default true)."),
  kubeReserved: kubeletConfigReserved
    .optional()
    .describe(
      "KubeReserved is the configuration for resources reserved for kubernetes node components (mainly kubelet and container runtime).",
    ),
  imageGCHighThresholdPercent: count(0, 100)
    .optional()
    .describe(
      "ImageGCHighThresholdPercent describes the percent of the disk usage which triggers image garbage collection.",
    ),
  imageGCLowThresholdPercent: count(0, 100)
    .optional()
    .describe(
      "ImageGCLowThresholdPercent describes the percent of the disk to which garbage collection attempts to free.",
    ),
  serializeImagePulls: z
    .boolean()
    .optional()
    .describe("SerializeImagePulls describes whether the images are pulled one at a time."),
  registryPullQPS: count().optional().describe("RegistryPullQPS is the limit of registry pulls per second."),
  registryBurst: count()
    .optional()
    .describe(
      "RegistryBurst is the maximum size of bursty pulls, temporarily allows pulls to burst to this number, while still not exceeding registryPullQPS.",
    ),
  seccompDefault: z
    .boolean()
    .optional()
    .describe("SeccompDefault enables the use of 'RuntimeDefault' as the default seccomp profile for all workloads."),
  containerLogMaxSize: quantity()
    .optional()
    .describe("A quantity defines the maximum size of the container log file before it is rotated."),
  containerLogMaxFiles: count(2)
    .optional()
    .describe("Maximum number of container log files that can be present for a container."),
  protectKernelDefaults: z
    .boolean()
    .optional()
    .describe("ProtectKernelDefaults ensures that the kernel tunables are equal to the kubelet defaults."),
  streamingConnectionIdleTimeout: duration()
    .optional()
    .describe(
      "StreamingConnectionIdleTimeout is the maximum time a streaming connection can be idle before the connection is automatically closed.",
    ),
  memorySwap: memorySwap.optional().describe("MemorySwap configures swap memory available to container workloads."),
  maxParallelImagePulls: count(1)
    .optional()
    .describe("MaxParallelImagePulls describes the maximum number of image pulls in parallel."),
  imageMinimumGCAge: duration()
    .optional()
    .describe("ImageMinimumGCAge is the minimum age of an unused image before it can be garbage collected."),
  imageMaximumGCAge: duration()
    .optional()
    .describe("ImageMaximumGCAge is the maximum age of an unused image before it can be garbage collected."),
  singleProcessOOMKill: z
    .boolean()
    .optional()
    .describe(
      "SingleProcessOOMKill, if true, will prevent the 'memory.oom.group' flag from being set for container cgroups in cgroups v2.",
    ),
  imagePullCredentialsVerificationPolicy: camelCase()
    .optional()
    .describe(
      "ImagePullCredentialsVerificationPolicy determines how credentials should be verified when pulling images that already exist on the node.",
    ),
  preloadedImagesVerificationAllowlist: z
    .array(z.string())
    .optional()
    .describe(
      "PreloadedImagesVerificationAllowlist specifies a list of images that are exempted from credential re-verification for the 'NeverVerifyAllowlistedImages' ImagePullCredentialsVerificationPolicy.",
    ),
});

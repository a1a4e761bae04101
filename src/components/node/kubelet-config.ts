import { stringify } from "yaml";
import { omitUndefined } from "../../omit-undefined.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { networksOf } from "../networks.ts";

/** The pool's KubeletConfiguration in YAML: what every node needs, and what the user asks for; no provider's business. */
export function kubeletConfiguration(context: ControlPlaneContext, pool: WorkerPool): string {
  const taints = pool.taints ?? [];
  return stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: "2m0s" },
      x509: { clientCAFile: "/var/lib/kubelet/ca.crt" },
    },
    authorization: { mode: "Webhook", webhook: { cacheAuthorizedTTL: "5m0s", cacheUnauthorizedTTL: "30s" } },
    cgroupDriver: "systemd",
    clusterDNS: [networksOf(context).dns],
    clusterDomain: "cluster.local",
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    maxPods: 110,
    rotateCertificates: true,
    serializeImagePulls: true,
    serverTLSBootstrap: true,
    ...(taints.length === 0
      ? {}
      : { registerWithTaints: taints.map(({ key, value, effect }) => ({ key, value, effect })) }),
    ...whatTheUserAsksFor(pool.kubernetes?.kubelet ?? context.shoot.spec.kubernetes.kubelet ?? {}),
  });
}

type KubeletSettings = NonNullable<ControlPlaneContext["shoot"]["spec"]["kubernetes"]["kubelet"]>;

const sameName = [
  "featureGates",
  "cpuCFSQuota",
  "cpuManagerPolicy",
  "evictionMaxPodGracePeriod",
  "evictionPressureTransitionPeriod",
  "maxPods",
  "podPidsLimit",
  "failSwapOn",
  "kubeReserved",
  "imageGCHighThresholdPercent",
  "imageGCLowThresholdPercent",
  "serializeImagePulls",
  "registryPullQPS",
  "registryBurst",
  "seccompDefault",
  "containerLogMaxSize",
  "containerLogMaxFiles",
  "protectKernelDefaults",
  "streamingConnectionIdleTimeout",
  "memorySwap",
  "maxParallelImagePulls",
] as const satisfies readonly (keyof KubeletSettings)[];

const signals = {
  memoryAvailable: "memory.available",
  imageFSAvailable: "imagefs.available",
  imageFSInodesFree: "imagefs.inodesFree",
  nodeFSAvailable: "nodefs.available",
  nodeFSInodesFree: "nodefs.inodesFree",
} as const;

function whatTheUserAsksFor(settings: KubeletSettings): Record<string, unknown> {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = settings;
  return omitUndefined({
    ...Object.fromEntries(sameName.map((name) => [name, settings[name]])),
    evictionHard: { ...defaultThresholds, ...thresholds(evictionHard) },
    evictionSoft: thresholds(evictionSoft),
    evictionSoftGracePeriod: thresholds(evictionSoftGracePeriod),
    evictionMinimumReclaim: thresholds(evictionMinimumReclaim),
  });
}

const defaultThresholds = {
  "memory.available": "100Mi",
  "nodefs.available": "5%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "5%",
};

/** Gardener's names of eviction signals are fields, the kubelet's are keys of a map. */
function thresholds(fields: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | undefined {
  if (fields === undefined) return undefined;
  return omitUndefined(Object.fromEntries(Object.entries(signals).map(([field, signal]) => [signal, fields[field]])));
}

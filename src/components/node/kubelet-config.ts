import { HARD_DISK_THRESHOLD, IMAGE_GC, KUBE_RESERVED, memoryThresholds } from "../../api/shoot/kubelet-defaults.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { networksOf } from "../networks.ts";
import { taintsOf } from "./pool.ts";
import { renderYaml } from "../../yaml.ts";

/** The pool's KubeletConfiguration in YAML: what every node needs, and what the user asks for; no provider's business. */
export function kubeletConfiguration(context: ControlPlaneContext, pool: WorkerPool): string {
  const taints = taintsOf(pool);
  return renderYaml({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    ...general,
    ...(pool.controlPlane === undefined ? {} : { staticPodPath: STATIC_POD_MANIFESTS }),
    clusterDNS: [networksOf(context).dns],
    clusterDomain: "cluster.local",
    ...(taints.length === 0
      ? {}
      : { registerWithTaints: taints.map(({ key, value, effect }) => ({ key, value, effect })) }),
    ...thresholdsOf(context, pool),
    ...whatTheUserAsksFor(settingsOf(context, pool)),
  });
}

/** Where kubelets of a control plane look for the manifests of its pods. */
export const STATIC_POD_MANIFESTS = "/etc/kubernetes/manifests";

/** What Gardener's kubelets have in common, as far as it is not Kubernetes' own default. */
const general = {
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true, cacheTTL: "2m0s" },
    x509: { clientCAFile: "/var/lib/kubelet/ca.crt" },
  },
  authorization: { mode: "Webhook", webhook: { cacheAuthorizedTTL: "5m0s", cacheUnauthorizedTTL: "30s" } },
  cgroupDriver: "systemd",
  cgroupRoot: "/",
  containerLogMaxSize: "100Mi",
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  eventBurst: 50,
  eventRecordQPS: 50,
  evictionMaxPodGracePeriod: 90,
  evictionPressureTransitionPeriod: "4m0s",
  failSwapOn: true,
  imageGCHighThresholdPercent: IMAGE_GC.high,
  imageGCLowThresholdPercent: IMAGE_GC.low,
  kubeAPIBurst: 50,
  kubeAPIQPS: 50,
  maxPods: 110,
  protectKernelDefaults: true,
  resolvConf: "/etc/resolv.conf",
  rotateCertificates: true,
  serializeImagePulls: true,
  serverTLSBootstrap: true,
  streamingConnectionIdleTimeout: "5m0s",
  tlsCipherSuites: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
  ],
  volumePluginDir: "/var/lib/kubelet/volumeplugins",
};

type KubeletSettings = NonNullable<ControlPlaneContext["shoot"]["spec"]["kubernetes"]["kubelet"]>;

/** The pool's own settings take the place of the Shoot's as a whole. */
const settingsOf = ({ shoot }: ControlPlaneContext, pool: WorkerPool): KubeletSettings =>
  pool.kubernetes?.kubelet ?? shoot.spec.kubernetes.kubelet ?? {};

const sameName = [
  "featureGates",
  "cpuCFSQuota",
  "cpuManagerPolicy",
  "evictionMaxPodGracePeriod",
  "evictionPressureTransitionPeriod",
  "maxPods",
  "podPidsLimit",
  "failSwapOn",
  "imageGCHighThresholdPercent",
  "imageGCLowThresholdPercent",
  "serializeImagePulls",
  "registryPullQPS",
  "registryBurst",
  "seccompDefault",
  "containerLogMaxFiles",
  "protectKernelDefaults",
  "streamingConnectionIdleTimeout",
  "memorySwap",
  "maxParallelImagePulls",
] as const satisfies readonly (keyof KubeletSettings)[];

function whatTheUserAsksFor(settings: KubeletSettings): Record<string, unknown> {
  const { ephemeralStorage, ...reserved } = settings.kubeReserved ?? {};
  return omitUndefined({
    ...Object.fromEntries(sameName.map((name) => [name, settings[name]])),
    containerLogMaxSize: settings.containerLogMaxSize?.toString(),
    kubeReserved: texts({ ...KUBE_RESERVED, ...reserved, "ephemeral-storage": ephemeralStorage }),
  });
}

/** When a kubelet evicts pods: as the user says, signal by signal, else as Gardener has it. */
function thresholdsOf(context: ControlPlaneContext, pool: WorkerPool) {
  const settings = settingsOf(context, pool);
  const type = context.cloudProfile.spec.machineTypes.find(({ name }) => name === pool.machine.type);
  const memory = memoryThresholds(type?.memory);
  return {
    evictionHard: {
      ...onAll(HARD_DISK_THRESHOLD),
      "memory.available": memory.hard,
      ...bySignal(settings.evictionHard),
    },
    evictionSoft: { ...onAll("10%"), "memory.available": memory.soft, ...bySignal(settings.evictionSoft) },
    evictionSoftGracePeriod: { ...onAll("1m30s"), ...bySignal(settings.evictionSoftGracePeriod) },
    evictionMinimumReclaim: { ...onAll("0Mi"), ...bySignal(settings.evictionMinimumReclaim) },
  };
}

const signals = {
  memoryAvailable: "memory.available",
  imageFSAvailable: "imagefs.available",
  imageFSInodesFree: "imagefs.inodesFree",
  nodeFSAvailable: "nodefs.available",
  nodeFSInodesFree: "nodefs.inodesFree",
} as const;

const onAll = (value: string): Record<string, unknown> =>
  Object.fromEntries(Object.values(signals).map((signal) => [signal, value]));

/** Gardener's names of eviction signals are fields, the kubelet's are keys of a map. */
const bySignal = (fields: Readonly<Record<string, string | number | undefined>> = {}): Record<string, string> =>
  texts(Object.fromEntries(Object.entries(signals).map(([field, signal]) => [signal, fields[field]])));

/** Amounts as kubelets read them: one that is written as a number keeps them from starting. */
const texts = (amounts: Readonly<Record<string, string | number | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) => (amount === undefined ? [] : [[name, String(amount)]])),
  );

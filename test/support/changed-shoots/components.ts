import { requiredPlugins } from "../../../src/api/shoot/admission-plugins.ts";
import { admitted, refused, type ShootCase } from "./case.ts";

const kubernetes = "spec.kubernetes";
const server = `${kubernetes}.kubeAPIServer`;
const kubelet = `${kubernetes}.kubelet`;
const manager = `${kubernetes}.kubeControllerManager`;
const absent = "is not supported: leave it out";

/** The version of Kubernetes, and the settings of its components. */
export const componentCases: readonly ShootCase[] = [
  refused("a version that is not offered", { [`${kubernetes}.version`]: "1.30.0" }, "1.30.0 is not offered"),
  refused("the latest version, in words", { [`${kubernetes}.version`]: "latest" }, "a version such as 1.34.4"),
  admitted("no version", { [`${kubernetes}.version`]: undefined }, "the latest offered one is filled in"),
  refused("a version that YAML takes for a number", { [`${kubernetes}.version`]: 1.34 }, "must be of type string"),
  refused("Events that are kept until soon", { [`${server}.eventTTL`]: "soon" }, "a duration such as 30s or 1h30m"),
  refused("Events that are kept for a number", { [`${server}.eventTTL`]: 3600 }, "must be of type string"),
  refused("Events that are kept for less than nothing", { [`${server}.eventTTL`]: "-1h" }, "a duration"),
  refused("Events that are kept for a year", { [`${server}.eventTTL`]: "8760h" }, "must be between 1s and 168h"),
  refused("Events that are not kept", { [`${server}.eventTTL`]: "0" }, "must be between 1s and 168h"),
  refused(
    "an unknown feature gate",
    { [`${server}.featureGates`]: { NoSuchGate: true } },
    "is no feature gate of Kubernetes 1.34",
    `${server}.featureGates.NoSuchGate`,
  ),
  refused(
    "a misspelt feature gate",
    { [`${kubelet}.featureGates`]: { nodeswop: true } },
    "did you mean NodeSwap?",
    `${kubelet}.featureGates.nodeswop`,
  ),
  refused(
    "a feature gate of an older version",
    { [`${manager}.featureGates`]: { ServiceLBNodePortControl: true } },
    "is no feature gate of Kubernetes 1.34",
    `${manager}.featureGates.ServiceLBNodePortControl`,
  ),
  refused(
    "a feature gate that is on for good, off",
    { [`${kubernetes}.kubeScheduler.featureGates`]: { SidecarContainers: false } },
    "is true for good in Kubernetes 1.34: leave it out",
    `${kubernetes}.kubeScheduler.featureGates.SidecarContainers`,
  ),
  admitted(
    "a feature gate of another component",
    { [`${kubernetes}.kubeProxy.featureGates`]: { KubeletPSI: true } },
    "each component has the gates of all",
  ),
  refused(
    "a feature gate with a blank",
    { [`${server}.featureGates`]: { "No Gate": true } },
    "the name of a feature gate",
    `${server}.featureGates["No Gate"]`,
  ),
  refused(
    "a feature gate that is neither on nor off",
    { [`${server}.featureGates`]: { A: "yes" } },
    "must be of type boolean",
    `${server}.featureGates.A`,
  ),
  refused(
    "an unknown admission plugin",
    { [`${server}.admissionPlugins`]: [{ name: "NoSuch" }] },
    "is no admission plugin",
    `${server}.admissionPlugins[0].name`,
  ),
  refused(
    "a misspelt admission plugin",
    { [`${server}.admissionPlugins`]: [{ name: "AlwaysPulImages" }] },
    "did you mean AlwaysPullImages?",
    `${server}.admissionPlugins[0].name`,
  ),
  refused(
    "an admission plugin that needs a configuration",
    { [`${server}.admissionPlugins`]: [{ name: "EventRateLimit" }] },
    "needs a configuration",
    `${server}.admissionPlugins[0].name`,
  ),
  refused(
    "an admission plugin twice",
    { [`${server}.admissionPlugins`]: [{ name: "LimitRanger" }, { name: "LimitRanger", disabled: true }] },
    "named twice",
    `${server}.admissionPlugins[1].name`,
  ),
  ...requiredPlugins.map((name) =>
    refused(
      `admission plugin ${name} disabled`,
      { [`${server}.admissionPlugins`]: [{ name, disabled: true }] },
      `${name} cannot be disabled: leave it out`,
      `${server}.admissionPlugins[0].name`,
    ),
  ),
  refused(
    "admission plugin AlwaysDeny enabled",
    { [`${server}.admissionPlugins`]: [{ name: "AlwaysDeny" }] },
    "AlwaysDeny cannot be enabled",
    `${server}.admissionPlugins[0].name`,
  ),
  admitted(
    "admission plugins that are not required disabled",
    { [`${server}.admissionPlugins`]: ["AlwaysDeny", "LimitRanger"].map((name) => ({ name, disabled: true })) },
    "kube-apiserver starts without them",
  ),
  refused(
    "an unknown API",
    { [`${server}.runtimeConfig`]: { "no/such": true } },
    "is no API of Kubernetes",
    `${server}.runtimeConfig["no/such"]`,
  ),
  refused(
    "a group of APIs without a version",
    { [`${server}.runtimeConfig`]: { apps: true } },
    "names no version: write apps/v1",
    `${server}.runtimeConfig["apps"]`,
  ),
  refused(
    "an API that is none",
    { [`${server}.runtimeConfig`]: { "a b": true } },
    "must be an API",
    `${server}.runtimeConfig["a b"]`,
  ),
  admitted("alpha APIs", { [`${server}.runtimeConfig`]: { "api/alpha": true } }, "Kubernetes has this switch"),
  refused(
    "an audit policy",
    { [`${server}.auditConfig`]: { auditPolicy: { configMapRef: { name: "nope" } } } },
    absent,
  ),
  refused("OIDC", { [`${server}.oidcConfig`]: { issuerURL: "https://x.y", clientID: "z" } }, absent),
  refused("structured authentication", { [`${server}.structuredAuthentication`]: { configMapName: "nope" } }, absent),
  admitted(
    "encrypted ConfigMaps",
    { [`${server}.encryptionConfig`]: { resources: ["configmaps"] } },
    "aescbc is the default",
  ),
  refused(
    "encryption of nothing there is",
    { [`${server}.encryptionConfig`]: { resources: ["Config Maps"] } },
    "",
    `${server}.encryptionConfig.resources[0]`,
  ),
  refused("tokens for a minute", { [`${server}.serviceAccountConfig.maxTokenExpiration`]: "1m" }, "between 1h and"),
  refused("an issuer that is no URL", { [`${server}.serviceAccountConfig.issuer`]: "https//x:1" }, "must be a URL"),
  refused(
    "an issuer without TLS",
    { [`${server}.serviceAccountConfig.issuer`]: "http://x.example.com" },
    "must be a URL",
  ),
  refused("an audience with a comma", { [`${server}.apiAudiences`]: ["a,b"] }, "", `${server}.apiAudiences[0]`),
  refused("requests below zero", { [`${server}.requests.maxMutatingInflight`]: -1 }, "greater than or equal to 0"),
  refused(
    "no requests at all",
    { [`${server}.requests`]: { maxMutatingInflight: 0, maxNonMutatingInflight: 0 } },
    "must not be 0 both",
  ),
  refused(
    "a toleration below zero",
    { [`${server}.defaultNotReadyTolerationSeconds`]: -5 },
    "greater than or equal to 0",
  ),
  refused("TLS of the last century", { [`${server}.tlsMinVersion`]: "SSLv3" }, 'Unsupported value: "SSLv3"'),
  refused("pods below zero", { [`${kubelet}.maxPods`]: -5 }, "greater than or equal to 1"),
  refused("ten processes for a pod", { [`${kubelet}.podPidsLimit`]: 10 }, "greater than or equal to 100"),
  refused("an unknown policy for CPUs", { [`${kubelet}.cpuManagerPolicy`]: "greedy" }, 'Unsupported value: "greedy"'),
  refused("a threshold in words", { [`${kubelet}.evictionHard.memoryAvailable`]: "little" }, "an amount such as 200Mi"),
  refused(
    "a soft threshold without a grace",
    { [`${kubelet}.evictionSoft.memoryAvailable`]: "300Mi" },
    "must be set with evictionSoft",
    `${kubelet}.evictionSoftGracePeriod.memoryAvailable`,
  ),
  refused("a grace in words", { [`${kubelet}.evictionSoftGracePeriod.memoryAvailable`]: "a while" }, "a duration"),
  refused(
    "images collected from 110%",
    { [`${kubelet}.imageGCHighThresholdPercent`]: 110 },
    "less than or equal to 100",
  ),
  refused(
    "images collected from below to above",
    { [`${kubelet}.imageGCHighThresholdPercent`]: 40 },
    "must be below imageGCHighThresholdPercent",
    `${kubelet}.imageGCLowThresholdPercent`,
  ),
  refused(
    "images collected down to more than kubelets begin with",
    { [`${kubelet}.imageGCLowThresholdPercent`]: 60 },
    "must be below imageGCHighThresholdPercent, 50",
    `${kubelet}.imageGCLowThresholdPercent`,
  ),
  admitted(
    "authorities and kernel settings of a pool",
    {
      "spec.provider.workers[0].caBundle": "-----BEGIN CERTIFICATE-----",
      "spec.provider.workers[0].sysctls": { "vm.swappiness": "10" },
    },
    "in the machines' OperatingSystemConfig",
  ),
  refused(
    "pulls at once that are one by one",
    { [`${kubelet}.maxParallelImagePulls`]: 5 },
    "only with serializeImagePulls: false",
  ),
  refused("one log file for a container", { [`${kubelet}.containerLogMaxFiles`]: 1 }, "greater than or equal to 2"),
  refused("a log of a size in words", { [`${kubelet}.containerLogMaxSize`]: "big" }, "an amount"),
  refused("memory for the system in words", { [`${kubelet}.kubeReserved.memory`]: "some" }, "an amount such as 500m"),
  refused(
    "a threshold of nothing",
    { [`${kubelet}.evictionHard.memoryAvailable`]: "0" },
    "must be more than 0, or 0% for no threshold",
  ),
  refused("a log of part of a byte", { [`${kubelet}.containerLogMaxSize`]: "500m" }, "must be a whole number"),
  refused(
    "swap for kubelets that end for it",
    { [`${kubelet}.memorySwap`]: { swapBehavior: "LimitedSwap" } },
    "only with failSwapOn: false",
  ),
  refused(
    "an unknown use of swap",
    { [`${kubelet}.memorySwap.swapBehavior`]: "Always" },
    'Unsupported value: "Always"',
  ),
  refused(
    "a pool's kubelet with pods below zero",
    { "spec.provider.workers[0].kubernetes.kubelet.maxPods": 0 },
    "greater than or equal to 1",
  ),
  admitted("kube-proxy with IPVS", { [`${kubernetes}.kubeProxy.mode`]: "IPVS" }, "kube-proxy has this mode"),
  refused("kube-proxy by magic", { [`${kubernetes}.kubeProxy.mode`]: "Magic" }, 'Unsupported value: "Magic"'),
  admitted("no kube-proxy", { [`${kubernetes}.kubeProxy.enabled`]: false }, "a network plugin may do its work"),
  refused("a patience with nodes in words", { [`${manager}.nodeMonitorGracePeriod`]: "long" }, "a duration"),
  refused(
    "an autoscaler's patience in words",
    { [`${manager}.horizontalPodAutoscaler.syncPeriod`]: "often" },
    "a duration",
  ),
  refused(
    "an autoscaler's tolerance below zero",
    { [`${manager}.horizontalPodAutoscaler.tolerance`]: -0.1 },
    "greater than or equal to 0",
  ),
  refused(
    "an unknown profile of the scheduler",
    { [`${kubernetes}.kubeScheduler.profile`]: "fair" },
    'Unsupported value: "fair"',
  ),
  admitted(
    "an autoscaler of nodes",
    { [`${kubernetes}.clusterAutoscaler`]: { scanInterval: "10s" } },
    "a warning says that there is none",
  ),
  admitted(
    "an autoscaler of pods' sizes",
    { [`${kubernetes}.verticalPodAutoscaler`]: { enabled: true } },
    "a warning says that there is none",
  ),
];

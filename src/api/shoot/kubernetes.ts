import { z } from "zod";
import { kubeletConfig, kubernetesConfig } from "./kubelet.ts";
import { objectReference } from "../schema/references.ts";
import { object, raw } from "../schema/fields.ts";
import { camelCase, count, duration, line, optionalName, version } from "../schema/syntax.ts";

const admissionPlugin = object({
  name: camelCase().describe("Name is the name of the plugin."),
  config: raw().optional().describe("Config is the configuration of the plugin."),
  disabled: z.boolean().optional().describe("Disabled specifies whether this plugin should be disabled."),
  kubeconfigSecretName: optionalName()
    .optional()
    .describe(
      "KubeconfigSecretName specifies the name of a secret containing the kubeconfig for this admission plugin.",
    ),
});

const auditPolicy = object({
  configMapRef: objectReference
    .optional()
    .describe(
      "ConfigMapRef is a reference to a ConfigMap object in the same namespace, which contains the audit policy for the kube-apiserver.",
    ),
});

const auditConfig = object({
  auditPolicy: auditPolicy
    .optional()
    .describe("AuditPolicy contains configuration settings for audit policy of the kube-apiserver."),
});

const serviceAccountConfig = object({
  issuer: line().optional().describe("Issuer is the identifier of the service account token issuer."),
  extendTokenExpiration: z
    .boolean()
    .optional()
    .describe(
      "ExtendTokenExpiration turns on projected service account expiration extension during token generation, which helps safe transition from legacy token to bound service account token feature.",
    ),
  maxTokenExpiration: duration()
    .optional()
    .describe(
      "MaxTokenExpiration is the maximum validity duration of a token created by the service account token issuer.",
    ),
  acceptedIssuers: z
    .array(line())
    .meta({ maxItems: 100 })
    .optional()
    .describe(
      "AcceptedIssuers is an additional set of issuers that are used to determine which service account tokens are accepted.",
    ),
});

const apiServerRequests = object({
  maxNonMutatingInflight: count()
    .optional()
    .describe("MaxNonMutatingInflight is the maximum number of non-mutating requests in flight at a given time."),
  maxMutatingInflight: count()
    .optional()
    .describe("MaxMutatingInflight is the maximum number of mutating requests in flight at a given time."),
});

const encryptionProvider = object({
  type: z
    .string()
    .optional()
    .describe(
      "Type contains the type of the encryption provider: aescbc (the default) or secretbox. It stays as it is while the Shoot lives.",
    ),
});

/** Kubernetes' own limits say nothing of how many: more than a Kubernetes has of kinds serves no purpose. */
const MOST_ENCRYPTED_RESOURCES = 256;

const encryptionConfig = object({
  resources: z
    .array(
      z
        .string()
        .max(253)
        .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/),
    )
    .max(MOST_ENCRYPTED_RESOURCES)
    .optional()
    .describe(
      "Resources contains the list of resources that shall be encrypted in addition to secrets, each in plural: resource or resource.group.",
    ),
  provider: encryptionProvider.optional().describe("Provider contains information about the encryption provider."),
});

const structuredAuthentication = object({
  configMapName: optionalName().describe(
    "ConfigMapName is the name of the ConfigMap in the project namespace which contains AuthenticationConfiguration for the kube-apiserver.",
  ),
});

const authorizerKubeconfigReference = object({
  authorizerName: line(253).describe("AuthorizerName is the name of a webhook authorizer."),
  secretName: optionalName().describe("SecretName is the name of a secret containing the kubeconfig."),
});

const structuredAuthorization = object({
  configMapName: optionalName().describe(
    "ConfigMapName is the name of the ConfigMap in the project namespace which contains AuthorizationConfiguration for the kube-apiserver.",
  ),
  kubeconfigs: z
    .array(authorizerKubeconfigReference)
    .describe("Kubeconfigs is a list of references for kubeconfigs for the authorization webhooks."),
});

const kubeAPIServerConfig = object({
  ...kubernetesConfig.shape,
  admissionPlugins: z
    .array(admissionPlugin)
    .meta({ maxItems: 100 })
    .optional()
    .describe(
      "AdmissionPlugins contains the list of user-defined admission plugins (additional to those managed by Gardener), and, if desired, the corresponding configuration.",
    ),
  // A comma would make two of one in the flag.
  apiAudiences: z
    .array(z.string().meta({ maxLength: 1024, pattern: "^[^,\\s\\x00-\\x1f\\x7f]+$" }))
    .meta({ maxItems: 100 })
    .optional()
    .describe("APIAudiences are the identifiers of the API."),
  auditConfig: auditConfig
    .optional()
    .describe("AuditConfig contains configuration settings for the audit of the kube-apiserver."),
  runtimeConfig: z
    .record(z.string(), z.boolean())
    .meta({ maxProperties: 100 })
    .optional()
    .describe("RuntimeConfig contains information about enabled or disabled APIs."),
  serviceAccountConfig: serviceAccountConfig
    .optional()
    .describe(
      "ServiceAccountConfig contains configuration settings for the service account handling of the kube-apiserver.",
    ),
  watchCacheSizes: raw()
    .optional()
    .describe("WatchCacheSizes contains configuration of the API server's watch cache sizes."),
  requests: apiServerRequests
    .optional()
    .describe("Requests contains configuration for request-specific settings for the kube-apiserver."),
  enableAnonymousAuthentication: z
    .boolean()
    .optional()
    .describe(
      "EnableAnonymousAuthentication defines whether anonymous requests to the secure port of the API server should be allowed (flag '--anonymous-auth'). Deprecated.",
    ),
  eventTTL: duration().optional().describe("EventTTL controls the amount of time to retain events."),
  logging: raw().optional().describe("Logging contains configuration for the log level and HTTP access logs."),
  defaultNotReadyTolerationSeconds: z
    .int()
    .meta({ minimum: 0 })
    .optional()
    .describe(
      "DefaultNotReadyTolerationSeconds indicates the tolerationSeconds of the toleration for notReady:NoExecute that is added by default to every pod that does not already have such a toleration (flag '--default-not-ready-toleration-seconds').",
    ),
  defaultUnreachableTolerationSeconds: z
    .int()
    .meta({ minimum: 0 })
    .optional()
    .describe(
      "DefaultUnreachableTolerationSeconds indicates the tolerationSeconds of the toleration for unreachable:NoExecute that is added by default to every pod that does not already have such a toleration (flag '--default-unreachable-toleration-seconds').",
    ),
  encryptionConfig: encryptionConfig
    .optional()
    .describe("EncryptionConfig contains customizable encryption configuration of the Kube API server."),
  structuredAuthentication: structuredAuthentication
    .optional()
    .describe(
      "StructuredAuthentication contains configuration settings for structured authentication for the kube-apiserver.",
    ),
  structuredAuthorization: structuredAuthorization
    .optional()
    .describe(
      "StructuredAuthorization contains configuration settings for structured authorization for the kube-apiserver.",
    ),
  autoscaling: raw()
    .optional()
    .describe("Autoscaling contains auto-scaling configuration options for the kube-apiserver."),
  tlsMinVersion: z
    .string()
    .meta({ enum: ["VersionTLS12", "VersionTLS13"] })
    .optional()
    .describe("TLSMinVersion is the minimum TLS version accepted by the kube-apiserver."),
});

const horizontalPodAutoscaler = object({
  cpuInitializationPeriod: duration()
    .optional()
    .describe("CPUInitializationPeriod is how long after a pod's start its CPU samples may be skipped."),
  downscaleStabilization: duration()
    .optional()
    .describe("DownscaleStabilization is for how long past recommendations hold back a scaling down."),
  initialReadinessDelay: duration()
    .optional()
    .describe("InitialReadinessDelay is for how long after a pod's start changes of its readiness are its first."),
  syncPeriod: duration().optional().describe("SyncPeriod is the time between two looks at the number of pods."),
  tolerance: z
    .number()
    .meta({ minimum: 0 })
    .optional()
    .describe("Tolerance is how far, as a fraction, usage may be from what is wanted without a scaling."),
});

const kubeControllerManagerConfig = object({
  ...kubernetesConfig.shape,
  horizontalPodAutoscaler: horizontalPodAutoscaler
    .optional()
    .describe(
      "HorizontalPodAutoscalerConfig contains horizontal pod autoscaler configuration settings for the kube-controller-manager.",
    ),
  nodeCIDRMaskSize: count(1, 32)
    .meta({ minimum: 1, maximum: 32, default: 24 })
    .optional()
    .describe("NodeCIDRMaskSize defines the mask size for node cidr in cluster (default is 24)."),
  podEvictionTimeout: duration()
    .optional()
    .describe("PodEvictionTimeout defines the grace period for deleting pods on failed nodes. Deprecated."),
  nodeMonitorGracePeriod: duration()
    .optional()
    .describe("NodeMonitorGracePeriod defines the grace period before an unresponsive node is marked unhealthy."),
  nodeCIDRMaskSizeIPv6: count(1, 128)
    .optional()
    .describe("NodeCIDRMaskSizeIPv6 defines the mask size for node cidr in cluster (default is 64)."),
});

const kubeSchedulerConfig = object({
  ...kubernetesConfig.shape,
  kubeMaxPDVols: line(16).optional().describe("KubeMaxPDVols is not respected anymore by kube-scheduler. Deprecated."),
  profile: z
    .string()
    .meta({ enum: ["balanced", "bin-packing"] })
    .optional()
    .describe("Profile configures the scheduling profile for the cluster."),
});

const kubeProxyConfig = object({
  ...kubernetesConfig.shape,
  mode: z
    .enum(["IPTables", "IPVS", "NFTables"])
    .meta({ default: "IPTables" })
    .optional()
    .describe("Mode specifies which proxy mode to use. defaults to IPTables."),
  enabled: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Enabled indicates whether kube-proxy should be deployed or not."),
});

/** Kubernetes contains the version and configuration variables for the Shoot control plane. */
export const kubernetes = object({
  clusterAutoscaler: raw()
    .optional()
    .describe("ClusterAutoscaler contains the configuration flags for the Kubernetes cluster autoscaler."),
  kubeAPIServer: kubeAPIServerConfig
    .optional()
    .describe("KubeAPIServer contains configuration settings for the kube-apiserver."),
  kubeControllerManager: kubeControllerManagerConfig
    .optional()
    .describe("KubeControllerManager contains configuration settings for the kube-controller-manager."),
  kubeScheduler: kubeSchedulerConfig
    .optional()
    .describe("KubeScheduler contains configuration settings for the kube-scheduler."),
  kubeProxy: kubeProxyConfig.optional().describe("KubeProxy contains configuration settings for the kube-proxy."),
  kubelet: kubeletConfig.optional().describe("Kubelet contains configuration settings for the kubelet."),
  version: version().describe("Version is the semantic Kubernetes version to use for the Shoot cluster."),
  verticalPodAutoscaler: raw()
    .optional()
    .describe("VerticalPodAutoscaler contains the configuration flags for the Kubernetes vertical pod autoscaler."),
  etcd: raw().optional().describe("ETCD contains configuration for etcds of the shoot cluster."),
});

import {
  defineControlPlaneWebhook,
  withContainer,
  withEnvironment,
  withFile,
  withFlag,
  withKubeletConfig,
  withKubeletFlag,
  withListed,
  withMount,
  withSidecar,
  withUnit,
  withVolume,
  withVolumeClaim,
} from "../../src/extension/index.ts";

/** Everything that a provider's webhook may do to a control plane, each in some place. */
export const providerWebhook = defineControlPlaneWebhook({
  name: "cloud",
  provider: { shoot: "local" },
  mutate: {
    "kube-apiserver": (deployment) =>
      withContainer(deployment, "kube-apiserver", (container) =>
        withListed(withFlag(container, "feature-gates", "InTreePluginUnregister=true"), ...plugin),
      ),
    "kube-controller-manager"(deployment, { cluster }) {
      const region = cluster?.spec.shoot.spec.region ?? "unknown";
      const configured = withContainer(deployment, "kube-controller-manager", (container) => ({
        ...withMount(
          withEnvironment(withFlag(container, "cloud-provider", "external"), { name: "REGION", value: region }),
          { name: "cloud-config", mountPath: "/etc/cloud", readOnly: true },
        ),
        resources: { requests: { cpu: "75m", memory: "128Mi" }, limits: { memory: "1Gi" } },
      }));
      const volume = { name: "cloud-config", secret: { secretName: "cloud-provider-config" } };
      const changed = withVolume(withSidecar(configured, { name: "proxy", image: "proxy:1" }), volume);
      return { ...changed, spec: { ...changed.spec, replicas: 2 } };
    },
    "kube-apiserver-service": (service) => ({
      ...service,
      metadata: { ...service.metadata, annotations: { "cloud.example.org/load-balancer": "network" } },
    }),
    "etcd-main": (set) =>
      withVolumeClaim(set, "main-etcd", {
        storageClassName: "fast",
        resources: { requests: { storage: "25Gi" } },
      }),
    "operating-system-config"(config) {
      const flagged = withKubeletFlag(config, "cloud-provider", "external");
      const configured = withKubeletConfig(flagged, (kubelet) => ({ ...kubelet, protectKernelDefaults: true }));
      const file = { path: "/etc/cloud", permissions: 0o644, content: { inline: { encoding: "", data: "a=b" } } };
      return withUnit(withFile(configured, file), {
        name: "cloud.service",
        content: "[Service]\nExecStart=/bin/true\n",
      });
    },
  },
});

const plugin = ["enable-admission-plugins", "PersistentVolumeClaimResize"] as const;

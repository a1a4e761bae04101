import type { KubeObject } from "../../src/api/index.ts";

const group = "extensions.gardener.cloud/v1alpha1";
const core = "core.gardener.cloud/v1beta1";
const secretRef = { name: "cloudprovider", namespace: "default" };
const shootObject = (kind: string, spec: object): KubeObject => ({
  apiVersion: group,
  kind,
  metadata: { name: "example", namespace: "default" },
  spec,
});
const globalObject = (apiVersion: string, kind: string, content: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "example" },
  ...content,
});

/** One valid object of every kind that deploy/examples has none of. */
export const furtherExamples: readonly KubeObject[] = [
  shootObject("Infrastructure", { type: "local", region: "local", secretRef, sshPublicKey: "c3NoLXJzYQ==" }),
  shootObject("ControlPlane", { type: "local", region: "local", secretRef, infrastructureProviderStatus: { a: 1 } }),
  shootObject("Worker", {
    type: "local",
    region: "local",
    secretRef,
    pools: [
      {
        name: "worker",
        machineType: "local",
        machineImage: { name: "local", version: "1.0.0" },
        minimum: 1,
        maximum: 3,
        maxSurge: "10%",
        maxUnavailable: 0,
        userDataSecretRef: { name: "user-data", key: "cloud_config" },
        taints: [{ key: "a", effect: "NoSchedule" }],
        nodeTemplate: { capacity: { cpu: 1, memory: "2Gi" } },
      },
    ],
  }),
  shootObject("OperatingSystemConfig", {
    type: "local",
    purpose: "provision",
    units: [{ name: "kubelet.service", command: "start", enable: true, content: "[Unit]" }],
    files: [{ path: "/a", permissions: 420, content: { inline: { encoding: "b64", data: "YQ==" } } }],
    criConfig: { name: "containerd", containerd: { sandboxImage: "pause", plugins: [{ path: ["a"], values: [1] }] } },
  }),
  shootObject("Network", { type: "local", podCIDR: "10.1.0.0/16", serviceCIDR: "10.2.0.0/16", ipFamilies: ["IPv4"] }),
  shootObject("DNSRecord", {
    type: "rfc2136",
    class: "shoot",
    secretRef,
    name: "api.a.example.com",
    recordType: "A",
    values: ["1.2.3.4"],
    leadership: { record: "a.example.com", value: "seed-1", leaseSeconds: 60, epoch: 1 },
  }),
  shootObject("ContainerRuntime", {
    type: "gvisor",
    binaryPath: "/bin",
    workerPool: { name: "worker", selector: { matchLabels: { a: "b" } } },
  }),
  shootObject("Extension", { type: "certificates" }),
  shootObject("Bastion", { type: "local", userData: "YQ==", ingress: [{ ipBlock: { cidr: "0.0.0.0/0" } }] }),
  shootObject("SelfHostedShootExposure", {
    type: "local",
    port: 443,
    endpoints: [{ nodeName: "a", addresses: [{ type: "InternalIP", address: "10.0.0.1" }] }],
  }),
  globalObject(group, "BackupBucket", { spec: { type: "local", region: "local", secretRef } }),
  globalObject(group, "BackupEntry", { spec: { type: "local", region: "local", bucketName: "b", secretRef } }),
  globalObject(group, "Cluster", { spec: { cloudProfile: { spec: {} }, seed: { spec: {} }, shoot: { spec: {} } } }),
  globalObject(core, "BackupBucket", { spec: { provider: { type: "local", region: "local" }, seedName: "seed-1" } }),
  { ...shootObject("BackupEntry", { bucketName: "b", seedName: "seed-1" }), apiVersion: core },
  {
    ...shootObject("ShootState", { extensions: [{ kind: "Worker", name: "a", state: { b: [1] } }] }),
    apiVersion: core,
  },
  {
    ...shootObject("Quota", { scope: { apiVersion: "v1", kind: "Secret" }, metrics: { cpu: 200, memory: "4000Gi" } }),
    apiVersion: core,
  },
  {
    ...shootObject("NamespacedCloudProfile", {
      parent: { kind: "CloudProfile", name: "local" },
      machineTypes: [{ name: "large", cpu: "4", memory: "16Gi" }],
    }),
    apiVersion: core,
  },
  globalObject(core, "ExposureClass", {
    handler: "internet",
    scheduling: { seedSelector: { matchLabels: { a: "b" } } },
  }),
  {
    ...shootObject("Bastion", {
      shootRef: { name: "a" },
      sshPublicKey: "ssh-rsa AAAA a@example.com",
      ingress: [{ ipBlock: { cidr: "1.2.3.4/32" } }],
    }),
    apiVersion: "operations.gardener.cloud/v1alpha1",
  },
  globalObject("perennial.dev/v1alpha1", "DomainReservation", {
    metadata: { name: "a.example.com" },
    spec: { domain: "a.example.com", shootRef: { namespace: "garden-dev", name: "a" } },
  }),
  globalObject(core, "ControllerRegistration", { spec: { resources: [{ kind: "Infrastructure", type: "local" }] } }),
  globalObject(core, "ControllerDeployment", { helm: { rawChart: "YQ==" }, injectGardenKubeconfig: true }),
  globalObject(core, "ControllerInstallation", {
    spec: { registrationRef: { name: "local" }, seedRef: { name: "seed-1" }, deploymentRef: { name: "local" } },
  }),
  {
    apiVersion: core,
    kind: "SecretBinding",
    metadata: { name: "example", namespace: "default" },
    secretRef,
    provider: { type: "local" },
  },
];

import { expect } from "vitest";
import { Seed, Shoot, type KubeObject } from "../../src/api/index.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";

/*
 * The fields of upstream's garden manifests (gardener v1.150, example/*.yaml) with their templates filled in, and with what
 * they name: their own words are not copied.
 */
const core = "core.gardener.cloud/v1beta1";
const namespace = "garden-up";
const labels = { "project.gardener.cloud/name": "up", "gardener.cloud/role": "project" };
const user = (name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name });
const secretRef = (name: string, of: string) => ({ apiVersion: "v1", kind: "Secret", name, namespace: of });
const inProject = (apiVersion: string, kind: string, name: string, content: object): KubeObject => ({
  ...{ apiVersion, kind, metadata: { name, namespace } },
  ...content,
});
const global = (apiVersion: string, kind: string, name: string, content: object): KubeObject => ({
  ...{ apiVersion, kind, metadata: { name } },
  ...content,
});

const manifests: readonly KubeObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
  global(core, "Project", "up", {
    spec: {
      namespace,
      owner: user("john"),
      members: [
        { ...user("alice"), role: "admin" },
        { ...user("bob"), role: "viewer" },
      ],
    },
  }),
  global("core.gardener.cloud/v1", "ControllerDeployment", "os-gardenlinux", {
    helm: { ociRepository: { ref: "registry.example.com/foo:1.0.0@sha256:abc" }, values: { foo: "bar" } },
    injectGardenKubeconfig: false,
  }),
  global(core, "ControllerRegistration", "os-gardenlinux", {
    spec: {
      resources: [{ kind: "OperatingSystemConfig", type: "gardenlinux" }],
      deployment: { deploymentRefs: [{ name: "os-gardenlinux" }] },
    },
  }),
  global(core, "CloudProfile", "cloudprofile1", {
    spec: {
      type: "aws",
      providerConfig: { apiVersion: "aws.provider.extensions.gardener.cloud/v1alpha1", kind: "CloudProfileConfig" },
      kubernetes: {
        versions: [
          { version: "1.35.4" },
          { version: "1.34.7" },
          { version: "1.32.13", expirationDate: "2025-11-30T01:02:03Z" },
        ],
      },
      machineImages: [
        {
          name: "gardenlinux",
          versions: [
            { version: "15.4.20220818" },
            { version: "15.4.20220620", expirationDate: "2023-02-28T23:59:59Z" },
          ],
        },
      ],
      machineTypes: [{ name: "m5.large", cpu: "2", gpu: "0", memory: "8Gi", usable: true }],
      volumeTypes: [
        { name: "gp3", class: "standard", usable: true },
        { name: "io1", class: "premium", usable: true },
      ],
      regions: [
        { name: "europe-central-1", zones: ["europe-central-1a", "europe-central-1b"].map((name) => ({ name })) },
      ],
    },
  }),
  inProject(core, "NamespacedCloudProfile", "custom-cloudprofile-1", {
    spec: {
      parent: { kind: "CloudProfile", name: "cloudprofile1" },
      kubernetes: { versions: [{ version: "1.34.7", expirationDate: "2030-02-28T23:59:59Z" }] },
      machineTypes: [{ name: "local-large", cpu: "4", gpu: "0", memory: "16Gi", usable: true }],
      machineImages: [
        { name: "gardenlinux", versions: [{ version: "15.4.20220620", expirationDate: "2024-12-31T23:59:59Z" }] },
        {
          name: "ubuntu-custom",
          updateStrategy: "major",
          versions: [{ version: "18.4.201906170", architectures: ["amd64"], cri: [{ name: "containerd" }] }],
        },
      ],
      providerConfig: { apiVersion: "aws.provider.extensions.gardener.cloud/v1alpha1", kind: "CloudProfileConfig" },
    },
  }),
  global(core, "Seed", "my-seed", {
    spec: {
      provider: { type: "aws", region: "europe-1", zones: ["europe-1a"] },
      backup: { provider: "aws", region: "europe-1", credentialsRef: secretRef("backup-secret", "garden") },
      dns: {
        provider: { type: "aws-route53", credentialsRef: secretRef("ingress-secret", "garden") },
        internal: {
          type: "aws-route53",
          domain: "internal.dev.example.com",
          credentialsRef: secretRef("internal-domain-secret", "garden"),
        },
      },
      extensions: [{ type: "foobar" }],
      ingress: { domain: "ingress.dev.my-seed.example.com", controller: { kind: "nginx" } },
      networks: {
        ...{ ipFamilies: ["IPv4"], blockCIDRs: ["169.254.169.254/32"] },
        ...{ nodes: "10.240.0.0/16", pods: "10.241.128.0/17", services: "10.241.0.0/17" },
      },
      settings: {
        dependencyWatchdog: { weeder: { enabled: true }, prober: { enabled: true } },
        scheduling: { visible: true },
        verticalPodAutoscaler: { enabled: true },
        topologyAwareRouting: { enabled: true },
      },
    },
  }),
  global(core, "ControllerInstallation", "os-gardenlinux", {
    spec: {
      deploymentRef: { apiVersion: core, kind: "ControllerDeployment", name: "os-gardenlinux" },
      registrationRef: { apiVersion: core, kind: "ControllerRegistration", name: "os-gardenlinux" },
      seedRef: { apiVersion: core, kind: "Seed", name: "my-seed" },
    },
  }),
  inProject(core, "Quota", "trial-quota", {
    spec: {
      scope: { apiVersion: core, kind: "Project" },
      metrics: {
        ...{ cpu: "200", gpu: "20", memory: "4000Gi", loadbalancer: "100" },
        ...{ "storage.standard": "8000Gi", "storage.premium": "2000Gi" },
      },
    },
  }),
  inProject("v1", "Secret", "my-provider-account", { type: "Opaque" }),
  inProject("security.gardener.cloud/v1alpha1", "CredentialsBinding", "my-provider-account", {
    provider: { type: "aws" },
    credentialsRef: secretRef("my-provider-account", namespace),
    quotas: [{ name: "trial-quota", namespace }],
  }),
  inProject(core, "SecretBinding", "my-provider-account", {
    provider: { type: "aws" },
    secretRef: { name: "my-provider-account" },
    quotas: [],
  }),
  global(core, "ExposureClass", "internet", {
    handler: "internet-config",
    scheduling: { seedSelector: { matchLabels: { foo: "bar" } } },
  }),
  inProject(core, "Shoot", "crazy-botany", {
    spec: {
      credentialsBindingName: "my-provider-account",
      cloudProfile: { name: "cloudprofile1" },
      region: "europe-central-1",
      purpose: "evaluation",
      provider: {
        type: "aws",
        infrastructureConfig: {
          apiVersion: "aws.provider.extensions.gardener.cloud/v1alpha1",
          kind: "InfrastructureConfig",
        },
        controlPlaneConfig: {
          apiVersion: "aws.provider.extensions.gardener.cloud/v1alpha1",
          kind: "ControlPlaneConfig",
        },
        workers: [
          {
            ...{ name: "cpu-worker", minimum: 3, maximum: 5, volume: { type: "gp3", size: "20Gi" } },
            machine: { type: "m5.large", image: { name: "gardenlinux", version: "15.4.20220818" } },
          },
        ],
      },
      kubernetes: null,
      dns: { domain: "crazy-botany.core.my-custom-domain.com" },
      extensions: [{ type: "foobar" }],
      networking: {
        ...{ type: "calico", ipFamilies: ["IPv4"] },
        ...{ pods: "100.96.0.0/11", nodes: "10.250.0.0/16", services: "100.64.0.0/13" },
      },
      maintenance: {
        timeWindow: { begin: "220000+0100", end: "230000+0100" },
        autoUpdate: { kubernetesVersion: true, machineImageVersion: true },
      },
      monitoring: { alerting: { emailReceivers: ["john.doe@example.com"] } },
    },
  }),
];

let client: KubeClient;
test.beforeAll(({ admissionLab }) => void ({ client } = admissionLab));

test("upstream's garden manifests apply as they stand, each after those that it names", async () => {
  for (const manifest of manifests)
    await expect(client.create(manifest), manifest.kind).resolves.toMatchObject({ kind: manifest.kind });
  const shoot = await client.read(refTo(Shoot, { namespace, name: "crazy-botany" }));
  expect(shoot?.spec.kubernetes).toMatchObject({ version: "1.35.4", kubeProxy: { enabled: true, mode: "IPTables" } });
  expect(shoot?.spec.cloudProfile).toEqual({ kind: "CloudProfile", name: "cloudprofile1" });
});

test("a Bastion of upstream's is taken once its Shoot has a Seed", async () => {
  const bastion = inProject("operations.gardener.cloud/v1alpha1", "Bastion", "example-bastion", {
    spec: {
      shootRef: { name: "crazy-botany" },
      sshPublicKey: "ssh-rsa AAAAB3Nza you@example.com",
      ingress: [{ ipBlock: { cidr: "1.2.3.4/32" } }],
    },
  });
  await expect(client.create(bastion)).rejects.toThrow("the Shoot has no Seed yet");
  await client.patch(refTo(Shoot, { namespace, name: "crazy-botany" }), { spec: { seedName: "my-seed" } });
  await expect(client.create(bastion)).resolves.toMatchObject({ spec: { seedName: "my-seed", providerType: "aws" } });
  expect(await client.read(refTo(Seed, { name: "my-seed" }))).toBeDefined();
});

test("a ControllerDeployment holds a chart of whatever size a request may have", async ({ cluster: { client } }) => {
  const rawChart = Buffer.alloc(1_000_000, "chart").toString("base64");
  const chart = { apiVersion: core, kind: "ControllerDeployment", metadata: { name: "large" }, helm: { rawChart } };
  await client.apply(chart);
  expect((await client.read(refOf(chart)))?.["helm"]).toMatchObject({ rawChart });
  await client.remove(refOf(chart));
});

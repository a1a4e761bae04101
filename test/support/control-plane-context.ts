import { CloudProfile, Seed, Shoot } from "../../src/api/index.ts";
import { imagesFor, type SeedContext } from "../../src/components/index.ts";

/** The context of a Shoot with one pool of each sort of setting, whose API server has its address. */
export function exampleContext(changes: Partial<SeedContext> = {}): SeedContext {
  const names = [
    "ca",
    "ca-client",
    "ca-etcd",
    "etcd-server",
    "kube-apiserver",
    "kube-scheduler",
    "service-account-key",
  ];
  return {
    shoot: Shoot.parse(shoot),
    seed: Seed.parse(seed),
    cloudProfile: CloudProfile.parse(cloudProfile),
    namespace: "shoot--dev--example",
    checksums: Object.fromEntries(names.map((name) => [name, `sha256-of-${name}`])),
    images: imagesFor("1.34.4"),
    authority: "CERTIFICATE",
    apiServerAddress: "172.30.128.1",
    internalDomain: "example.dev.internal.perennial.test",
    externalDomain: "example.dev.perennial.test",
    ...changes,
  };
}

/** The same Shoot with other fields in its spec. */
export function exampleShoot(spec: Partial<Shoot["spec"]> = {}): Shoot {
  return Shoot.parse({ ...shoot, spec: { ...shoot.spec, ...spec } });
}

const shoot = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "example", namespace: "garden-dev", uid: "5d8f8d8e-0000-4000-8000-000000000001" },
  spec: {
    cloudProfile: { kind: "CloudProfile", name: "local" },
    credentialsBindingName: "local",
    region: "local",
    seedName: "seed-1",
    dns: { domain: "example.dev.perennial.test" },
    extensions: [{ type: "shoot-lakom-service" }, { type: "shoot-dns-service", disabled: true }],
    kubernetes: {
      version: "1.34.4",
      kubeAPIServer: { admissionPlugins: [{ name: "PodNodeSelector" }], eventTTL: "2h" },
    },
    networking: { type: "local", pods: "10.180.0.0/16", services: "10.190.0.0/16" },
    provider: {
      type: "local",
      infrastructureConfig: { apiVersion: "local.provider/v1", kind: "InfrastructureConfig" },
      workers: [
        {
          name: "worker",
          minimum: 1,
          maximum: 3,
          machine: { type: "local" },
          labels: { team: "a", "node-role.kubernetes.io/worker": "" },
          taints: [{ key: "dedicated", value: "a", effect: "NoSchedule" }],
          kubernetes: { kubelet: { maxPods: 50, evictionHard: { memoryAvailable: "200Mi" } } },
        },
      ],
    },
  },
};

const seed = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Seed",
  metadata: { name: "seed-1" },
  spec: {
    provider: { type: "aws", region: "eu-west-1" },
    networks: { pods: "10.226.0.0/16", services: "10.227.0.0/16" },
    dns: {},
    ingress: { domain: "ingress.seed-1.perennial.test", controller: { kind: "nginx" } },
  },
};

const cloudProfile = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "CloudProfile",
  metadata: { name: "local" },
  spec: {
    type: "local",
    kubernetes: { versions: [{ version: "1.34.4" }] },
    machineImages: [{ name: "local", versions: [{ version: "1.9.0" }, { version: "1.10.0" }] }],
    machineTypes: [{ name: "local", cpu: "2", memory: "4Gi" }],
    regions: [{ name: "local" }],
  },
};

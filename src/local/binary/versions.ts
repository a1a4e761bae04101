import { buildClusterApi } from "./cluster-api.ts";
import { buildCalico, buildGardener } from "./gardener.ts";
import { pinEtcd, pinKonnectivity, pinKubernetes, pinModule, pinSuite, pinSuiteImage } from "./kubernetes.ts";
import { untold, type BinaryPin } from "./pin.ts";

/** The one file that pins what Perennial runs locally: every binary, its version, and where it comes from. */
export const versions = {
  kubernetes: "1.34.4",
  etcd: "3.6.10",
  temporal: "1.5.1",
  coredns: "1.13.1",
  konnectivity: "0.34.0",
  pause: "3.10",
  rclone: "1.74.4",
  gardener: "1.150.0",
  machineControllerManager: "0.62.1",
  networkingCalico: "1.59.0",
  etcdDruid: "0.38.1",
  certManagement: "0.27.0",
  helm: "4.2.4",
  registry: "3.1.1",
  localPathProvisioner: "0.0.30",
  clusterApi: "1.14.2",
  metricsServer: "0.8.0",
  // Of these two Kubernetes' suite says which.
  ginkgo: "2.21.0",
  sampleApiServer: "0.29.2",
} as const;

/** The binaries of which clusters are made; what else is pinned is got by what asks for it. */
export const clusterBinaries = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
  "etcd",
  "etcdctl",
  "etcdutl",
  "coredns",
] as const;

/** Gardener's own programs, and the extensions that are tried with it. */
export const gardenerBinaries = [
  "gardener-resource-manager",
  "gardener-extension-provider-local",
  "machine-controller-manager-provider-local",
  "cloud-controller-manager-local",
  "gardener-node-agent",
  "machine-controller-manager",
  "gardener-extension-networking-calico",
  "gardener-extension-admission-calico",
  "local-path-provisioner",
] as const;

/** The two ends of the tunnel between API servers and nodes that their seeds do not reach. */
export const tunnelBinaries = ["proxy-server", "proxy-agent"] as const;

/** Cluster API's core manager and its command line. */
export const clusterApiBinaries = ["cluster-api-manager", "clusterctl"] as const;

/** Kubernetes' own conformance tests, what runs them in parallel, the programs of their images, and an aggregated API that users have. */
export const conformanceBinaries = [
  "e2e.test",
  "ginkgo",
  "agnhost",
  "nonewprivs",
  "sample-apiserver",
  "metrics-server",
] as const;

/** The names of the pinned binaries. */
export type BinaryName =
  | (typeof clusterBinaries)[number]
  | (typeof gardenerBinaries)[number]
  | (typeof tunnelBinaries)[number]
  | (typeof clusterApiBinaries)[number]
  | (typeof conformanceBinaries)[number]
  | "temporal"
  | "rclone"
  | "helm"
  | "registry";

/** Every pinned binary. */
export const binaries: Readonly<Record<BinaryName, BinaryPin>> = {
  "kube-apiserver": pinKubernetes(versions.kubernetes, "kube-apiserver", 4),
  "kube-controller-manager": pinKubernetes(versions.kubernetes, "kube-controller-manager", 2),
  "kube-scheduler": pinKubernetes(versions.kubernetes, "kube-scheduler", 1),
  kubelet: pinKubernetes(versions.kubernetes, "kubelet", 1),
  "kube-proxy": pinKubernetes(versions.kubernetes, "kube-proxy", 1),
  kubectl: pinKubernetes(versions.kubernetes, "kubectl", 1),
  etcd: pinEtcd(versions.etcd, "etcd", "server"),
  etcdctl: pinEtcd(versions.etcd, "etcdctl", "etcdctl"),
  etcdutl: pinEtcd(versions.etcd, "etcdutl", "etcdutl"),
  temporal: {
    version: versions.temporal,
    range: `>=${versions.temporal} <2`,
    versionArgs: ["--version"],
    versionPattern: /temporal version v?/,
    release: {
      url: `https://github.com/temporalio/cli/releases/download/v${versions.temporal}/temporal_cli_${versions.temporal}_{os}_{arch}.tar.gz`,
      checksums: `https://github.com/temporalio/cli/releases/download/v${versions.temporal}/checksums.txt`,
      member: "temporal",
    },
    build: {
      package: "github.com/temporalio/cli/cmd/temporal",
      require: {},
      install: true,
      ldflags: `-X github.com/temporalio/cli/temporalcli.Version=${versions.temporal}`,
      minutes: 3,
    },
  },
  coredns: {
    version: versions.coredns,
    range: `~${versions.coredns}`,
    versionArgs: ["-version"],
    versionPattern: /CoreDNS-/,
    release: {
      url: `https://github.com/coredns/coredns/releases/download/v${versions.coredns}/coredns_${versions.coredns}_{os}_{arch}.tgz`,
      checksums: `https://github.com/coredns/coredns/releases/download/v${versions.coredns}/coredns_${versions.coredns}_{os}_{arch}.tgz.sha256`,
      member: "coredns",
    },
    build: { package: "github.com/coredns/coredns", require: {}, install: true, minutes: 2 },
  },
  rclone: {
    version: versions.rclone,
    range: `~${versions.rclone}`,
    versionArgs: ["version"],
    versionPattern: /rclone v/,
    release: {
      url: `https://github.com/rclone/rclone/releases/download/v${versions.rclone}/rclone-v${versions.rclone}-{os}-{arch}.zip`,
      checksums: `https://github.com/rclone/rclone/releases/download/v${versions.rclone}/SHA256SUMS`,
      member: `rclone-v${versions.rclone}-{os}-{arch}/rclone`,
    },
    build: {
      package: "github.com/rclone/rclone/cmd",
      parts: [
        "backend/local",
        "backend/s3",
        "cmd/check",
        "cmd/copy",
        "cmd/copyto",
        "cmd/delete",
        "cmd/lsf",
        "cmd/serve/s3",
        "cmd/version",
      ].map((part) => `github.com/rclone/rclone/${part}`),
      require: { "github.com/rclone/rclone": `v${versions.rclone}` },
      ldflags: `-X github.com/rclone/rclone/fs.Version=v${versions.rclone}`,
      minutes: 2,
    },
  },
  helm: {
    version: versions.helm,
    range: `~${versions.helm}`,
    versionArgs: ["version", "--short"],
    versionPattern: /^v/,
    release: {
      url: `https://get.helm.sh/helm-v${versions.helm}-{os}-{arch}.tar.gz`,
      checksums: `https://get.helm.sh/helm-v${versions.helm}-{os}-{arch}.tar.gz.sha256sum`,
      member: "{os}-{arch}/helm",
    },
    build: {
      package: "helm.sh/helm/v4/cmd/helm",
      go: "1.26.0",
      require: { "helm.sh/helm/v4": `v${versions.helm}` },
      ldflags: `-X helm.sh/helm/v4/internal/version.version=v${versions.helm}`,
      minutes: 5,
    },
  },
  registry: {
    version: versions.registry,
    range: `~${versions.registry}`,
    versionArgs: ["--version"],
    versionPattern: /distribution\/v3 v?/,
    release: {
      url: `https://github.com/distribution/distribution/releases/download/v${versions.registry}/registry_${versions.registry}_{os}_{arch}.tar.gz`,
      checksums: `https://github.com/distribution/distribution/releases/download/v${versions.registry}/registry_${versions.registry}_{os}_{arch}.tar.gz.sha256`,
      member: "registry",
    },
    build: {
      package: "github.com/distribution/distribution/v3/cmd/registry",
      go: "1.25.0",
      require: { "github.com/distribution/distribution/v3": `v${versions.registry}` },
      ldflags: `-X github.com/distribution/distribution/v3/version.version=${versions.registry}`,
      minutes: 24,
    },
  },
  "proxy-server": pinKonnectivity(versions.konnectivity, "server"),
  "proxy-agent": pinKonnectivity(versions.konnectivity, "agent"),
  "gardener-resource-manager": gardener("gardener-resource-manager"),
  "gardener-extension-provider-local": gardener("gardener-extension-provider-local"),
  "machine-controller-manager-provider-local": gardener("machine-controller-manager-provider-local"),
  "cloud-controller-manager-local": gardener("cloud-controller-manager-local"),
  "gardener-node-agent": gardener("gardener-node-agent"),
  "machine-controller-manager": {
    ...untold(versions.machineControllerManager),
    build: {
      package: "github.com/gardener/machine-controller-manager/cmd/machine-controller-manager",
      go: "1.26.2",
      require: { "github.com/gardener/machine-controller-manager": `v${versions.machineControllerManager}` },
      ldflags: `-X github.com/gardener/machine-controller-manager/pkg/version.Version=v${versions.machineControllerManager}`,
      minutes: 10,
    },
  },
  "gardener-extension-networking-calico": calico("gardener-extension-networking-calico"),
  "gardener-extension-admission-calico": calico("gardener-extension-admission-calico"),
  "local-path-provisioner": {
    ...untold(versions.localPathProvisioner),
    build: {
      package: "github.com/rancher/local-path-provisioner",
      require: { "github.com/rancher/local-path-provisioner": `v${versions.localPathProvisioner}` },
      ldflags: `-X main.VERSION=v${versions.localPathProvisioner}`,
      minutes: 3,
    },
  },
  "cluster-api-manager": { ...untold(versions.clusterApi), build: buildClusterApi(versions.clusterApi, "core", 7) },
  clusterctl: {
    version: versions.clusterApi,
    range: `~${versions.clusterApi}`,
    versionArgs: ["version", "--output=short"],
    versionPattern: /^v/,
    unreleased: "is published without a checksum",
    build: buildClusterApi(versions.clusterApi, "cmd/clusterctl", 1),
  },
  "e2e.test": pinSuite(versions.kubernetes, 8),
  ginkgo: pinModule(versions.ginkgo, "github.com/onsi/ginkgo/v2", 1, "/ginkgo"),
  agnhost: pinSuiteImage(versions.kubernetes, "agnhost"),
  nonewprivs: pinSuiteImage(versions.kubernetes, "nonewprivs"),
  "sample-apiserver": pinModule(versions.sampleApiServer, "k8s.io/sample-apiserver", 3),
  "metrics-server": pinModule(versions.metricsServer, "sigs.k8s.io/metrics-server", 3, "/cmd/metrics-server"),
};

function gardener(name: string): BinaryPin {
  const { gardener: version } = versions;
  return {
    ...{ version, range: `~${version}`, versionArgs: ["--version"], versionPattern: new RegExp(`${name} v`) },
    build: buildGardener(version, name),
  };
}

function calico(name: string): BinaryPin {
  return { ...untold(versions.networkingCalico), build: buildCalico(versions.networkingCalico, name) };
}

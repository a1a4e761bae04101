/** The one file that pins what Perennial runs locally: every binary, its version, and where it comes from. */
export const versions = {
  kubernetes: "1.34.4",
  etcd: "3.6.10",
  temporal: "1.5.1",
  coredns: "1.13.1",
  pause: "3.10",
  rclone: "1.74.4",
} as const;

/** The names of the pinned binaries. */
export type BinaryName =
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubelet"
  | "kube-proxy"
  | "kubectl"
  | "etcd"
  | "etcdctl"
  | "etcdutl"
  | "temporal"
  | "coredns"
  | "rclone";

/** Where a binary of one version comes from; `{os}` and `{arch}` in addresses stand for Go's names of this machine's. */
export interface BinaryPin {
  readonly version: string;
  /** The versions that are as good when found in PATH (semver range). */
  readonly range: string;
  /** How the binary is asked for its version: the first `x.y.z` after `pattern` counts. */
  readonly versionArgs: readonly string[];
  readonly versionPattern: RegExp;
  readonly release: ReleasePin;
  readonly build: BuildPin;
}

/** An official release: a file, or a member of a tar or zip archive, and the checksum file that is published next to it. */
export interface ReleasePin {
  readonly url: string;
  readonly checksums: string;
  /** The path of the binary in the archive; the file itself is the binary when there is none. */
  readonly member?: string;
}

/** How the binary is built from the Go module registry: `go build` of a package in a module of our own that requires the others. */
export interface BuildPin {
  readonly package: string;
  readonly require: Readonly<Record<string, string>>;
  /** Modules in the replace list of this one that live in its `staging` folder are required at this version instead. */
  readonly staging?: { readonly module: string; readonly version: string };
  /** The package has a `Main` and is no program: one of ours calls it, and imports these for what they add to it. */
  readonly parts?: readonly string[];
  /** `go install package@version` in place of a module of our own. */
  readonly install?: true;
  readonly ldflags?: string;
  /** Minutes that it took on two busy cores with a cold cache: what a waiting user is told. */
  readonly minutes: number;
}

/** Every pinned binary. */
export const binaries: Readonly<Record<BinaryName, BinaryPin>> = {
  "kube-apiserver": kubernetes("kube-apiserver", 4),
  "kube-controller-manager": kubernetes("kube-controller-manager", 2),
  "kube-scheduler": kubernetes("kube-scheduler", 1),
  kubelet: kubernetes("kubelet", 1),
  "kube-proxy": kubernetes("kube-proxy", 1),
  kubectl: kubernetes("kubectl", 1),
  etcd: etcd("etcd", "server"),
  etcdctl: etcd("etcdctl", "etcdctl"),
  etcdutl: etcd("etcdutl", "etcdutl"),
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
};

/** The Debian packages that machines, networks and DNS need, each with a program or file that shows that it is there. */
export const packages = {
  containerd: ["containerd", "ctr"],
  runc: ["runc"],
  "containernetworking-plugins": ["/usr/lib/cni/bridge"],
  iptables: ["iptables"],
  iproute2: ["ip"],
  conntrack: ["conntrack"],
  bind9: ["named"],
  "bind9-dnsutils": ["nsupdate", "dig"],
  socat: ["socat"],
  ethtool: ["ethtool"],
  "util-linux": ["nsenter", "unshare", "flock"],
  curl: ["curl"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A Debian package of the local environment. */
export type PackageName = keyof typeof packages;

function kubernetes(name: string, minutes: number): BinaryPin {
  const { kubernetes: version } = versions;
  const [major, minor, patch] = version.split(".");
  const url = `https://dl.k8s.io/release/v${version}/bin/{os}/{arch}/${name}`;
  const variable = "k8s.io/component-base/version";
  return {
    version,
    range: `~${version}`,
    versionArgs: name === "kubectl" ? ["version", "--client"] : ["--version"],
    versionPattern: name === "kubectl" ? /Client Version: v/ : /Kubernetes v/,
    release: { url, checksums: `${url}.sha256` },
    build: {
      package: `k8s.io/kubernetes/cmd/${name}`,
      require: { "k8s.io/kubernetes": `v${version}` },
      staging: { module: "k8s.io/kubernetes", version: `v0.${minor}.${patch}` },
      ldflags: `-X ${variable}.gitVersion=v${version} -X ${variable}.gitMajor=${major} -X ${variable}.gitMinor=${minor}`,
      minutes,
    },
  };
}

function etcd(name: string, folder: string): BinaryPin {
  const { etcd: version } = versions;
  const release = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
  return {
    version,
    range: `~${version}`,
    versionArgs: name === "etcd" ? ["--version"] : ["version"],
    versionPattern: new RegExp(`${name} [vV]ersion: `),
    release: {
      url: `${release}/etcd-v${version}-{os}-{arch}.tar.gz`,
      checksums: `${release}/SHA256SUMS`,
      member: `etcd-v${version}-{os}-{arch}/${name}`,
    },
    build: {
      package: `go.etcd.io/etcd/${folder}/v3`,
      require: Object.fromEntries(
        ["server", "etcdctl", "etcdutl"].map((part) => [`go.etcd.io/etcd/${part}/v3`, `v${version}`]),
      ),
      minutes: 1,
    },
  };
}

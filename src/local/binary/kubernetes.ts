import { untold, type BinaryPin, type BuildPin } from "./pin.ts";

/** A program of Kubernetes, released with its checksum. */
export function pinKubernetes(version: string, name: string, minutes: number): BinaryPin {
  const url = `https://dl.k8s.io/release/v${version}/bin/{os}/{arch}/${name}`;
  return {
    version,
    range: `~${version}`,
    versionArgs: name === "kubectl" ? ["version", "--client"] : ["--version"],
    versionPattern: name === "kubectl" ? /Client Version: v/ : /Kubernetes v/,
    release: { url, checksums: `${url}.sha256` },
    build: buildKubernetes(version, `cmd/${name}`, minutes),
  };
}

/** Kubernetes' own suite of tests, of which the conformance tests are a part. */
export function pinSuite(version: string, minutes: number): BinaryPin {
  return {
    ...{ version, range: version, versionArgs: ["--version"], versionPattern: /^v/ },
    unreleased: "is published in an archive with others only",
    build: { ...buildKubernetes(version, "test/e2e", minutes), tests: true },
  };
}

/** The program of an image of that suite. */
export function pinSuiteImage(version: string, name: string): BinaryPin {
  return { ...untold(version), build: buildKubernetes(version, `test/images/${name}`, 1) };
}

/** A program that is a module of its own, without a release. */
export function pinModule(release: string, module: string, minutes: number, folder = ""): BinaryPin {
  const version = `v${release}`;
  return { ...untold(release), build: { package: `${module}${folder}`, require: { [module]: version }, minutes } };
}

function buildKubernetes(version: string, folder: string, minutes: number): BuildPin {
  const [major, minor, patch] = version.split(".");
  const variable = "k8s.io/component-base/version";
  return {
    package: `k8s.io/kubernetes/${folder}`,
    require: { "k8s.io/kubernetes": `v${version}` },
    staging: { module: "k8s.io/kubernetes", version: `v0.${minor}.${patch}` },
    ldflags: `-X ${variable}.gitVersion=v${version} -X ${variable}.gitMajor=${major} -X ${variable}.gitMinor=${minor}`,
    minutes,
  };
}

/** A program of etcd, released in an archive with the others. */
export function pinEtcd(version: string, name: string, folder: string): BinaryPin {
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

/** One end of Kubernetes' tunnel; the module of its client, which the main one replaces by a folder, goes beside it. */
export function pinKonnectivity(release: string, end: "server" | "agent"): BinaryPin {
  const module = "sigs.k8s.io/apiserver-network-proxy";
  const version = `v${release}`;
  return {
    ...untold(release),
    build: {
      package: `${module}/cmd/${end}`,
      go: "1.24.7",
      require: { [module]: version, [`${module}/konnectivity-client`]: version },
      minutes: 1,
    },
  };
}

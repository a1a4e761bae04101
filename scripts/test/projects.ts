import { packages, type PackageName } from "../../src/local/binary/debian-packages.ts";
import {
  clusterApiBinaries,
  clusterBinaries,
  conformanceBinaries,
  tunnelBinaries,
  type BinaryName,
} from "../../src/local/binary/versions.ts";
import { upstreamBinaries } from "../../src/local/environment/upstream.ts";

/**
 * The projects of vitest that `npm test` runs, in their order, in two lanes that can run in parallel: one mostly computes, the other mostly
 * waits for machines and controllers.
 */
export const lanes = [
  ["unit", "property", "tools", "kube", "flow"],
  ["self-hosted", "e2e", "cluster-api-whole", "self-hosted-whole", "upstream"],
] as const;

/** The projects that run last, in whichever lane has ended. */
export const afterLanes = ["kill-matrix", "cluster-api", "upstream-api"] as const;

export type Project = (typeof lanes)[number][number] | (typeof afterLanes)[number];

export const projects: readonly Project[] = [...lanes.flat(), ...afterLanes];

/** Projects that run when they are named: they build for an hour, or go through whole matrices. */
const onDemand: readonly Project[] = ["cluster-api-whole", "self-hosted-whole", "upstream"];

export const usual: readonly Project[] = projects.filter((project) => !onDemand.includes(project));

/** Projects that make machines out of namespaces of this host. */
export const takesRoot: readonly Project[] = ["self-hosted", "self-hosted-whole", "e2e", "kill-matrix"];

const apiServer = ["etcd", "etcdctl", "kube-apiserver"] as const;

/** The binaries that each project needs before it starts, in the order in which they are built. */
export const needs: Readonly<Record<Project, readonly BinaryName[]>> = {
  unit: [],
  property: [],
  tools: [],
  kube: [
    ...apiServer,
    ...(["kube-controller-manager", "kube-scheduler", "kubectl", "etcdutl", "helm", "rclone"] as const),
    ...tunnelBinaries,
  ],
  flow: ["temporal"],
  "self-hosted": clusterBinaries,
  "self-hosted-whole": clusterBinaries,
  e2e: [...clusterBinaries, ...tunnelBinaries, "temporal"],
  "kill-matrix": [...apiServer, "kube-controller-manager", "temporal"],
  "upstream-api": [
    ...apiServer,
    ...(["kube-controller-manager", "gardener-resource-manager", "gardener-extension-provider-local"] as const),
  ],
  "cluster-api": [...apiServer, ...clusterApiBinaries],
  "cluster-api-whole": [...clusterBinaries, ...tunnelBinaries, "temporal", ...clusterApiBinaries],
  upstream: [
    ...clusterBinaries,
    ...tunnelBinaries,
    ...upstreamBinaries,
    "gardener-node-agent",
    "gardener-extension-networking-calico",
    "gardener-extension-admission-calico",
    "machine-controller-manager",
    "machine-controller-manager-provider-local",
    "helm",
    "registry",
  ],
};

/** The binaries that tests of a project get when they come to them; they are built in the background, after all that projects need. */
export const laterNeeds: Partial<Readonly<Record<Project, readonly BinaryName[]>>> = { e2e: conformanceBinaries };

/** Returns the binaries of these projects in the order in which they are needed when the lanes run in parallel. */
export function orderBuilds(chosen: readonly Project[]): readonly BinaryName[] {
  const length = Math.max(...lanes.map((lane) => lane.length));
  const begun = Array.from({ length }, (_, index) => lanes.flatMap((lane) => lane[index] ?? [])).flat();
  const order = [...begun, ...afterLanes].filter((project) => chosen.includes(project));
  return [
    ...new Set([...order.flatMap((project) => needs[project]), ...order.flatMap((one) => laterNeeds[one] ?? [])]),
  ];
}

/** The Debian packages that each project needs; e2e installs its own. */
export const takes: Partial<Readonly<Record<Project, readonly PackageName[]>>> = {
  kube: ["bind9", "bind9-dnsutils"],
  "kill-matrix": ["bind9", "bind9-dnsutils"],
  "cluster-api-whole": ["bind9", "bind9-dnsutils"],
  upstream: Object.keys(packages) as PackageName[],
};

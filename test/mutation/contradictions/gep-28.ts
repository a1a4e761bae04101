import type { Contradiction } from "../contradictions.ts";

/** Of GEP-28's page: what it is, its commands, scenarios and future. */
export const ofGep28: readonly Contradiction[] = [
  {
    promise: "an ordinary Shoot, without a seed",
    file: "src/admission/shoot/self-hosted.ts",
    find: "...(seedName\n",
    put: '...(seedName === ""\n',
  },
  {
    promise: "the control plane has nodes of its own",
    test: "registers as a node",
    file: "src/components/node/pool.ts",
    find: "return [own, ...taints.filter(",
    put: "return [...taints.filter(",
  },
  {
    promise: "operators make such Shoots, users do not",
    file: "src/admission/shoot/self-hosted.ts",
    find: 'verb: "mark-self-hosted"',
    put: 'verb: "update"',
  },
  {
    promise: "existing code is used again",
    file: "src/components/kubernetes/kube-scheduler.ts",
    find: '"secure-port": 10259,',
    put: '"secure-port": 10260,',
  },
  {
    promise: "no switching between a seed and nodes of its own",
    file: "src/admission/shoot/self-hosted.ts",
    find: "if (isDeepStrictEqual(before, now)) return [];",
    put: "if (before !== now) return [];",
  },
  {
    promise: "it can be the first cluster, where there is no Gardener",
    file: "src/gardenadm/configuration/configuration.ts",
    find: "objects: documents.flatMap(({ objects }) => objects), faults",
    put: "objects: documents.slice(1).flatMap(({ objects }) => objects), faults",
  },
  {
    promise: "`gardenadm` is a program of each release",
    file: "bin/gardenadm",
    find: 'start" gardenadm "$@"',
    put: 'start" perennial "$@"',
  },
  {
    promise: "habits of kubeadm, without an `upgrade`",
    file: "src/gardenadm/registry.ts",
    find: `  {
    name: "version",`,
    put: `  { name: "upgrade", summary: "Upgrade", load: async () => (await import("./version.ts")).version },
  {
    name: "version",`,
  },
  {
    promise: "compatible Linux hosts",
    file: "src/gardenadm/preflight/systemd.ts",
    find: 'isReadable(root, "/run/systemd/system")',
    put: 'isReadable(root, "/run/openrc")',
  },
  {
    promise: "systemd, containerd and `ctr`",
    file: "src/gardenadm/preflight/systemd.ts",
    find: 'isReadable(root, "/run/systemd/system")',
    put: 'isReadable(root, "/")',
  },
  {
    promise: "CPU and memory",
    file: "src/gardenadm/preflight/memory.ts",
    find: "worker: 1229",
    put: "worker: 1741",
  },
  {
    promise: "ports are free",
    file: "src/gardenadm/preflight/ports.ts",
    find: 'resolve(code === "EADDRINUSE")',
    put: 'resolve(code === "EADDRNOTAVAIL")',
  },
  {
    promise: "machines reach each other",
    file: "src/gardenadm/preflight/networks.ts",
    find: '...ranges.filter(({ name }) => name !== "nodes").flatMap((range) => neighbourFaults(range, around)),',
    put: "...around.flatMap(() => []),",
  },
  {
    promise: "`version`",
    file: "src/gardenadm/version.ts",
    find: "Number(minor) + 1",
    put: "Number(minor) + 2",
  },
  {
    promise: "takes the garden's kubeconfig and a manifest",
    file: "src/gardenadm/discover/collect.ts",
    find: `    collectBindings(need),
`,
    put: "",
  },
  {
    promise: "fetches profile, registrations and deployments",
    file: "src/gardenadm/discover/collect.ts",
    find: `    collectRegistrations(need, bucket),
`,
    put: "",
  },
  {
    promise: "later, the garden has the same versions",
    file: "src/gardenadm/discover/difference.ts",
    find: "if (isDeepStrictEqual(before, after)) return [];",
    put: 'if (isDeepStrictEqual(before, after) || field !== "") return [];',
  },
  {
    promise: "kubelets are not too far from their API server",
    file: "src/admission/shoot/skew.ts",
    find: "const FARTHEST_BEHIND = 3;",
    put: "const FARTHEST_BEHIND = 4;",
  },
  {
    promise: "high touch: networks and machines are the operator's",
    file: "src/gardenadm/configuration/demand.ts",
    find: 'const INFRASTRUCTURE = ["Infrastructure", "Worker"];',
    put: 'const INFRASTRUCTURE = ["Worker"];',
  },
  {
    promise: "Kubernetes changes in place",
    test: "stays while machines",
    file: "src/components/node/pool.ts",
    find: "    `${major}.${minor}`,\n",
    put: "    `${major}.${minor}.${kubernetesVersion(context, pool)}`,\n",
  },
  {
    promise: "no VPN",
    file: "src/self-hosted/static-pods.ts",
    find: "    hostNetwork: true,",
    put: "    hostNetwork: false,",
  },
  {
    promise: "no proxy; Service `kubernetes` leads to nodes",
    test: "is as its golden file",
    file: "src/components/kubernetes/kube-apiserver-command.ts",
    find: '"endpoint-reconciler-type": address && "none",',
    put: '"endpoint-reconciler-type": "none",',
  },
  {
    promise: "`KUBERNETES_SERVICE_HOST` is not injected",
    file: "src/components/resource-manager/configuration.ts",
    find: "webhooks: { projectedTokenMount: { enabled: true } },",
    put: "webhooks: { projectedTokenMount: { enabled: true }, kubernetesServiceHost: { enabled: true } },",
  },
  {
    promise: "an odd number of nodes, at most seven",
    file: "src/admission/shoot/self-hosted.ts",
    find: "const SIZES = [1, 3, 5, 7];",
    put: "const SIZES = [1, 2, 3, 5, 7];",
  },
];

import { STATIC_POD_HASH_ANNOTATION } from "../api/annotations.ts";
import type { KubeObject } from "../api/index.ts";
import { STATIC_POD_MANIFESTS, type File } from "../components/index.ts";
import { withoutDefaults } from "./defaults.ts";
import { resolveEnvironment } from "./environment.ts";
import { hashOf } from "./hash.ts";
import { templateOf, type Container, type PodSpec } from "./pod.ts";
import { refusalsOf, type Refuse } from "./refusal.ts";
import { lookupIn, type Sources } from "./sources.ts";
import { hostVolumes, readOnlyFiles } from "./volumes.ts";
import { renderYaml } from "../yaml.ts";

/** A pod that a kubelet runs without an API server. */
export interface StaticPod {
  /** The pod as its manifest says; its mirror in the API server has the node's name behind its own. */
  readonly pod: KubeObject;
  /** The value of `STATIC_POD_HASH_ANNOTATION`. */
  readonly hash: string;
  /** The same on each node. Written last: the kubelet waits for folders, and for no file in them. */
  readonly manifest: File;
  /** What it reads, readable for root's group; a file with `hostName` is for that node only. */
  readonly files: readonly File[];
}

/**
 * Turns a Deployment or StatefulSet, as it stands after webhooks, into a static pod of its name in `kube-system`, on the host's
 * network. A change of it, or of a file that all nodes have, changes its hash, so that kubelets start it anew; files of single
 * nodes do not, as what reads them reads them again by itself (certificates) or needs them once (etcd's first start). Throws
 * NoStaticPodError for what needs an API server.
 */
export function staticPod({ workload, ...sources }: Sources & { readonly workload: KubeObject }): StaticPod {
  const { name } = workload.metadata;
  const refuse = refusalsOf({ kind: workload.kind, name });
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name))
    refuse("metadata.name", `is ${JSON.stringify(name)}`, "use lower-case letters, digits and dashes");
  const template = templateOf(workload, refuse);
  const lookup = lookupIn(sources, refuse);
  const { volumes, files } = hostVolumes(name, template, lookup, refuse);
  const translated = (containers: readonly Container[]) =>
    containers
      .map((container) => resolveEnvironment(container, lookup, refuse))
      .map((container) => readOnlyFiles(container, files, name))
      .map((container) => ({ ...container, imagePullPolicy: "IfNotPresent" }));
  const spec = withoutDefaults({
    ...onTheHost(template.spec, refuse),
    ...(template.spec.initContainers && { initContainers: translated(template.spec.initContainers) }),
    containers: translated(template.spec.containers),
    ...(volumes.length > 0 && { volumes }),
  });
  const metadata = {
    name,
    namespace: "kube-system",
    labels: { ...template.labels, "static-pod": "true" },
    annotations: template.annotations,
  };
  const hash = hashOf({ metadata, spec, files: files.filter(({ hostName }) => hostName === undefined) });
  const annotations = { ...template.annotations, [STATIC_POD_HASH_ANNOTATION]: hash };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, annotations }, spec };
  return { pod, hash, manifest: manifestOf(pod), files };
}

/** What only schedulers and accounts need: a static pod is where its manifest is, and no account's. */
const NOT_ON_HOSTS = [
  "affinity",
  "nodeName",
  "nodeSelector",
  "preemptionPolicy",
  "schedulerName",
  "schedulingGates",
  "serviceAccount",
  "serviceAccountName",
  "topologySpreadConstraints",
];

const API_SERVER_NAMES = ["", ".default", ".default.svc", ".default.svc.cluster.local"].map(
  (end) => `kubernetes${end}`,
);

function onTheHost(spec: PodSpec, refuse: Refuse): PodSpec {
  refuseReferences(spec, refuse);
  const { dnsPolicy = "ClusterFirst", hostAliases = [] } = spec;
  return {
    ...(Object.fromEntries(Object.entries(spec).filter(([key]) => !NOT_ON_HOSTS.includes(key))) as unknown as PodSpec),
    automountServiceAccountToken: false,
    dnsPolicy: dnsPolicy === "ClusterFirst" ? "ClusterFirstWithHostNet" : dnsPolicy,
    hostAliases: [...hostAliases, { ip: "127.0.0.1", hostnames: API_SERVER_NAMES }],
    hostNetwork: true,
    priority: 2_000_001_000,
    priorityClassName: "system-node-critical",
    // Its files are root's: by this group, a process of another user reads them too.
    securityContext: { ...spec.securityContext, fsGroup: 0 },
  };
}

/** API servers refuse mirrors of pods that name these. */
function refuseReferences(spec: PodSpec, refuse: Refuse): void {
  const named = (field: string) => ((spec[field] ?? []) as readonly unknown[]).length > 0;
  if (named("imagePullSecrets"))
    refuse("imagePullSecrets", "names Secrets", "put the registry's credentials into the configuration of containerd");
  if (named("resourceClaims")) refuse("resourceClaims", "claims devices by the API server", "ask for none");
}

/** YAML as kubelets read it, the same whatever order the fields have come in. What stands in it may be what only root may know. */
function manifestOf(pod: KubeObject): File {
  const text = renderYaml(pod, { sortMapEntries: true });
  return {
    path: `${STATIC_POD_MANIFESTS}/${pod.metadata.name}.yaml`,
    permissions: 0o600,
    content: { inline: { encoding: "b64", data: Buffer.from(text).toString("base64") } },
  };
}

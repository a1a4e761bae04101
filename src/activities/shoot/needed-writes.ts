import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";

/** A write without which a Shoot does not wake up, or gets no new nodes. */
export interface NeededWrite {
  readonly group: string;
  /** Its plural, with the subresource. */
  readonly resource: string;
  /** Undefined for what is in none; a Namespace counts as in itself, as webhooks select it by its own labels. */
  readonly namespace?: WritingNamespace;
  /** Those that the objects have at least. */
  readonly labels: Readonly<Record<string, string>>;
  /** In seconds: for how long a webhook may hold up the request; 15 by default, as upstream. */
  readonly longest?: number;
}

/** The namespaces that a Shoot needs to write to. */
export const writingNamespaces = ["default", "kube-node-lease", SYSTEM_NAMESPACE] as const;

/** A namespace that a Shoot needs to write to. */
export type WritingNamespace = (typeof writingNamespaces)[number];

/** In seconds: a controller gives up the request by which it stays the leader after 5, as upstream. */
export const LONGEST_FOR_LEASES = 3;

/** In seconds: a kubelet gives up a heartbeat after 10. */
const LONGEST_FOR_HEARTBEATS = 9;

const leases = { group: "coordination.k8s.io", resource: "leases", labels: {} };

const deployed = { [NO_CLEANUP_LABEL]: "true" };

const bootstrapping = { "kubernetes.io/bootstrapping": "rbac-defaults" };

const inSystem = (group: string, resources: readonly string[], labels: NeededWrite["labels"]): NeededWrite[] =>
  resources.map((resource) => ({ group, resource, namespace: SYSTEM_NAMESPACE, labels }));

const inNone = (group: string, resources: readonly string[], labels: NeededWrite["labels"] = {}): NeededWrite[] =>
  resources.map((resource) => ({ group, resource, labels }));

/** In both, API servers and controllers write how Services are reached: of `kubernetes` in default, and of DNS in kube-system. */
const ofServices = (["default", SYSTEM_NAMESPACE] as const).flatMap((namespace): NeededWrite[] => [
  { group: "discovery.k8s.io", resource: "endpointslices", namespace, labels: {} },
  { group: "", resource: "endpoints", namespace, labels: {} },
  { group: "", resource: "services", namespace, labels: {} },
  { group: "", resource: "services/status", namespace, labels: {} },
]);

const rbac = "rbac.authorization.k8s.io";

/**
 * What a Shoot writes on its way to ready nodes with a network and DNS: the API server as it starts, controllers, kubelets, and flows
 * (Gardener: WebhookConstraintMatchers).
 */
export const neededWrites: readonly NeededWrite[] = [
  ...inNone("", ["nodes"]),
  ...inNone("", ["nodes/status"]).map((one) => ({ ...one, longest: LONGEST_FOR_HEARTBEATS })),
  ...inNone("certificates.k8s.io", [
    ...["certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"],
  ]),
  { ...leases, namespace: "kube-node-lease", longest: LONGEST_FOR_HEARTBEATS },
  { ...leases, namespace: SYSTEM_NAMESPACE, longest: LONGEST_FOR_LEASES },
  ...[deployed, bootstrapping].flatMap((labels) => inNone(rbac, ["clusterroles", "clusterrolebindings"], labels)),
  ...[deployed, bootstrapping].flatMap((labels) => inSystem(rbac, ["roles", "rolebindings"], labels)),
  ...inNone("apiextensions.k8s.io", ["customresourcedefinitions", "customresourcedefinitions/status"]),
  ...inNone("apiregistration.k8s.io", ["apiservices", "apiservices/status"]),
  ...inNone("scheduling.k8s.io", ["priorityclasses"]),
  ...inSystem("", ["namespaces", "namespaces/status"], {}),
  ...ofServices,
  ...inSystem(
    "",
    ["configmaps", "pods", "pods/binding", "pods/status", "secrets", "serviceaccounts", "services"],
    deployed,
  ),
  ...inSystem(
    "apps",
    [
      ...["controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale"],
      ...["replicasets", "replicasets/scale", "replicasets/status"],
    ],
    deployed,
  ),
  ...inSystem("networking.k8s.io", ["networkpolicies"], deployed),
];

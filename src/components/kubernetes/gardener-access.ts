import type { KubeObject } from "../../api/index.ts";
import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import type { ControlPlaneContext } from "../context.ts";
import { apiServerIP } from "../networks.ts";
import { clusterRole, clusterRoleBinding } from "../rbac.ts";
import { systemGround } from "./system-ground.ts";

const USER = "perennial-user";

/** The account whose tokens are the kubeconfigs of the Shoot's users. No pod uses it. */
export const userAccount: KubeObject = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: USER, namespace: "kube-system", labels: { [NO_CLEANUP_LABEL]: "true" } },
  automountServiceAccountToken: false,
};

/** What Gardener's groups and users may do in the Shoot, where its pods find the API server, and what system components rely on. */
export function gardenerAccess(context: ControlPlaneContext): KubeObject[] {
  return [
    clusterRole("gardener.cloud:system:read-only", [
      { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
      { nonResourceURLs: ["*"], verbs: ["get"] },
    ]),
    groupBinding("gardener.cloud:system:admins", "cluster-admin"),
    groupBinding("gardener.cloud:project:admins", "cluster-admin"),
    groupBinding("gardener.cloud:system:viewers", "gardener.cloud:system:read-only"),
    groupBinding("gardener.cloud:project:viewers", "view"),
    userAccount,
    clusterRoleBinding("perennial:user", "cluster-admin", [
      { kind: "ServiceAccount", name: USER, namespace: "kube-system" },
    ]),
    ...kubernetesEndpoint(context),
    ...systemGround(context),
  ];
}

function groupBinding(group: string, role: string): KubeObject {
  return clusterRoleBinding(group, role, [{ kind: "Group", name: group }]);
}

/**
 * The endpoint of Service `kubernetes`, which the API server leaves to us (`--endpoint-reconciler-type=none`), in both forms: what was
 * written for older versions reads Endpoints.
 */
function kubernetesEndpoint(context: ControlPlaneContext): KubeObject[] {
  const address = apiServerIP(context);
  if (address === undefined) return [];
  const of = { name: "kubernetes", namespace: "default" };
  const ports = [{ name: "https", port: 443, protocol: "TCP" }];
  return [
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...of, labels: { "kubernetes.io/service-name": "kubernetes" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports,
    },
    {
      apiVersion: "v1",
      kind: "Endpoints",
      // The slice is ours, too: kube-controller-manager makes no second one of these.
      metadata: { ...of, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      subsets: [{ addresses: [{ ip: address }], ports }],
    },
  ];
}

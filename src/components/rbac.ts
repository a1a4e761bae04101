import type { KubeObject } from "../api/index.ts";

/** Whom a binding gives rights to. */
export type Subject =
  | { readonly kind: "User" | "Group"; readonly name: string }
  | { readonly kind: "ServiceAccount"; readonly name: string; readonly namespace: string };

/** One rule of a role. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

const apiVersion = "rbac.authorization.k8s.io/v1";

/** Gives the subjects a cluster role everywhere. */
export function clusterRoleBinding(name: string, role: string, subjects: readonly Subject[]): KubeObject {
  return {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: subjects.map(withApiGroup),
  };
}

/** A role in all namespaces. */
export function clusterRole(name: string, rules: readonly PolicyRule[]): KubeObject {
  return { apiVersion, kind: "ClusterRole", metadata: { name }, rules };
}

/** A role in one namespace, and its binding of the same name. */
export function roleWithBinding(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  rules: readonly PolicyRule[],
  subjects: readonly Subject[],
): KubeObject[] {
  const metadata = { name, namespace };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  return [
    { apiVersion, kind: "Role", metadata, rules },
    { apiVersion, kind: "RoleBinding", metadata, roleRef, subjects: subjects.map(withApiGroup) },
  ];
}

function withApiGroup(subject: Subject) {
  return subject.kind === "ServiceAccount" ? subject : { apiGroup: "rbac.authorization.k8s.io", ...subject };
}

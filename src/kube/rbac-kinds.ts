/** The kinds of rights, as `kinds.ts` has the others. */
import type { KubeObject } from "../api/schema/meta.ts";
import { defineKind, type NamespacedObject } from "./kinds.ts";

const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;

/** One rule of a role. Without `resourceNames` it is for all objects of the resources. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A Role: rights in one namespace. */
export interface Role extends NamespacedObject {
  readonly rules: readonly PolicyRule[];
}
/** A Role: rights in one namespace. */
export const Role = defineKind<Role>({ ...rbac, kind: "Role", scope: "Namespaced" });

/** A ClusterRole: rights on what is in no namespace, or in all of them. */
export interface ClusterRole extends KubeObject {
  readonly rules: readonly PolicyRule[];
}
/** A ClusterRole: rights on what is in no namespace, or in all of them. */
export const ClusterRole = defineKind<ClusterRole, "Cluster">({ ...rbac, kind: "ClusterRole", scope: "Cluster" });

interface Binding {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

/** A RoleBinding: who has a role's rights in one namespace. */
export type RoleBinding = NamespacedObject & Binding;
/** A RoleBinding: who has a role's rights in one namespace. */
export const RoleBinding = defineKind<RoleBinding>({ ...rbac, kind: "RoleBinding", scope: "Namespaced" });

/** A ClusterRoleBinding: who has a cluster role's rights. */
export type ClusterRoleBinding = KubeObject & Binding;
/** A ClusterRoleBinding: who has a cluster role's rights. */
export const ClusterRoleBinding = defineKind<ClusterRoleBinding, "Cluster">({
  ...rbac,
  kind: "ClusterRoleBinding",
  scope: "Cluster",
});

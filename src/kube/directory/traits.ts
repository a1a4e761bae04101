import type { Scope, TypeRef } from "../../api/schema/kind.ts";
import { resources } from "../../api/resources.ts";

/** The group of an API version; empty for `v1`. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
}

/** Whether a group is one of Kubernetes itself: its kinds are no custom resources. */
export function isBuiltInGroup(group: string): boolean {
  return ["", "apps", "batch", "autoscaling", "policy"].includes(group) || group.endsWith(".k8s.io");
}

/** Where objects of a kind live; undefined for a kind that is not known here, of which each object says it itself. */
export function scopeOf({ apiVersion, kind, scope }: TypeRef): Scope | undefined {
  const group = groupOf(apiVersion);
  const own = resources.find((resource) => resource.kind === kind && resource.group === group);
  if (scope !== undefined || own !== undefined) return scope ?? own?.scope;
  if (!isBuiltInGroup(group)) return undefined;
  return CLUSTER_SCOPED.has(kind) ? "Cluster" : "Namespaced";
}

/** The plural by which an API server serves the kind: as the resource declares it, else by the rules of English. */
export function pluralOf({ apiVersion, kind }: TypeRef): string {
  const own = resources.find((resource) => resource.kind === kind && resource.group === groupOf(apiVersion));
  if (own !== undefined) return own.plural;
  const word = kind.toLowerCase();
  if (word === "endpoints") return word;
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|ch)$/.test(word) ? `${word}es` : `${word}s`;
}

/** `configmaps`, `deployments.apps`: as an API server names a kind in errors. */
export function resourceName(type: TypeRef): string {
  const group = groupOf(type.apiVersion);
  return group === "" ? pluralOf(type) : `${pluralOf(type)}.${group}`;
}

/** Whether objects of the kind count the changes of what is wanted, in `metadata.generation`. */
export function hasGeneration({ apiVersion }: TypeRef): boolean {
  return !WITHOUT_GENERATION.has(groupOf(apiVersion));
}

const WITHOUT_GENERATION: ReadonlySet<string> = new Set([
  "",
  "rbac.authorization.k8s.io",
  "coordination.k8s.io",
  "certificates.k8s.io",
  "events.k8s.io",
  "apiregistration.k8s.io",
  "storage.k8s.io",
  "node.k8s.io",
]);

const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  "APIService",
  "CSIDriver",
  "CSINode",
  "CertificateSigningRequest",
  "ClusterRole",
  "ClusterRoleBinding",
  "ClusterTrustBundle",
  "CustomResourceDefinition",
  "FlowSchema",
  "IPAddress",
  "IngressClass",
  "MutatingWebhookConfiguration",
  "Namespace",
  "Node",
  "PersistentVolume",
  "PriorityClass",
  "PriorityLevelConfiguration",
  "RuntimeClass",
  "ServiceCIDR",
  "StorageClass",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "VolumeAttachment",
]);

import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** Why the Shoot cannot encrypt what it stores as it asks for. What it names wrongly would keep its API server from starting. */
export function encryptionCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">): Cause[] {
  const config = shoot.spec.kubernetes.kubeAPIServer?.encryptionConfig;
  const field = "spec.kubernetes.kubeAPIServer.encryptionConfig";
  const resources = config?.resources ?? [];
  const seen = new Set<string>();
  return [
    ...resources.flatMap((resource, index) => {
      const message = seen.has(resource) ? "is named twice" : resourceProblem(resource);
      seen.add(resource);
      return message === undefined ? [] : [{ field: `${field}.resources[${index}]`, message }];
    }),
    ...providerCauses(`${field}.provider.type`, providerOf(shoot), old && providerOf(old)),
  ];
}

/** The rules of Kubernetes' own EncryptionConfiguration, and upstream's. */
function resourceProblem(resource: string): string | undefined {
  if (resource === "secrets") return "is encrypted always: leave it out";
  if (resource.endsWith(".events.k8s.io")) return "are stored as events: name these";
  if (resource.endsWith(".extensions")) return "is of a group that Kubernetes has no more";
  return withoutApi.has(resource) ? "has no API and cannot be encrypted" : undefined;
}

const withoutApi = new Set(["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"]);

/** Another provider would need another key, and keys are not rotated; AES-GCM is safe only for keys that are. */
function providerCauses(field: string, wanted: string, before: string | undefined): Cause[] {
  if (!providers.includes(wanted)) {
    const why = wanted === "aesgcm" ? " (aesgcm needs a rotation of its key, which is not there yet)" : "";
    return [{ field, message: `must be one of ${providers.join(", ")}, not ${wanted}${why}` }];
  }
  return before === undefined || wanted === before
    ? []
    : [{ field, message: `cannot change from ${before}: it stays as it is while the Shoot lives`, forbidden: true }];
}

const providers = ["aescbc", "secretbox"];

const providerOf = ({ spec }: ShootChange["shoot"]): string =>
  spec.kubernetes.kubeAPIServer?.encryptionConfig?.provider?.type ?? "aescbc";

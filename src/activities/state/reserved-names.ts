import {
  BACKUP_PLACE,
  backupBucketSecretName,
  backupEntrySecretName,
  GENERIC_KUBECONFIG,
  referencedResourceName,
  SSH_KEY_PAIR,
} from "../../api/names.ts";
import {
  CLUSTER_AUTOSCALER,
  KEPT_SNAPSHOTS,
  MACHINE_CONTROLLER_MANAGER,
  RESOURCE_MANAGER,
  TUNNEL_SERVER,
} from "../../components/index.ts";
import { authorities, lastingSecrets } from "../secrets/plan.ts";

/**
 * Reports whether a Secret or ConfigMap of this name in a Shoot's namespace belongs to the control plane itself, to Gardener's
 * resource manager or to another object that flows write: no extension and no other seed may provide its content.
 * test/unit/activities/reserved-names.test.ts compares it with what components and certificates use.
 */
export function isReservedName(name: string): boolean {
  return (
    families.some((family) => name === family || name.startsWith(`${family}-`)) || exact.has(name) || isBundle(name)
  );
}

/** An authority's own Secrets; extensions have authorities too, such as `ca-provider-aws-controlplane`. */
const exact: ReadonlySet<string> = new Set([...Object.keys(authorities), ...lastingSecrets]);

const isBundle = (name: string): boolean => Object.keys(authorities).some((one) => name.startsWith(`${one}-bundle-`));

/** A name and everything that begins with it and a hyphen. */
const families: readonly string[] = [
  "kube",
  "kubelet",
  "etcd",
  `source-${BACKUP_PLACE}`,
  "gardener",
  RESOURCE_MANAGER,
  MACHINE_CONTROLLER_MANAGER,
  CLUSTER_AUTOSCALER,
  TUNNEL_SERVER,
  GENERIC_KUBECONFIG,
  SSH_KEY_PAIR,
  KEPT_SNAPSHOTS.name,
  "audit-policy-config",
  "bootstrap-token",
  "cloudprovider",
  "cluster-identity",
  "dnsrecord",
  "user-kubeconfig",
  // with the hyphen at their ends
  ...[referencedResourceName(""), backupEntrySecretName(""), backupBucketSecretName("")].map((one) => one.slice(0, -1)),
  // Upstream's: tokens that resource managers request, what ManagedResources apply, and user data of machines.
  "shoot-access",
  "managedresource",
  "osc-result",
];

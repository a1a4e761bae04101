import type { NamespacedKey } from "../schema/kind.ts";
import type { CredentialsBinding } from "./credentials-binding.ts";
import type { SecretBinding } from "./secret-binding.ts";

/** The Quotas that a binding names; without a namespace, one is in the binding's own. */
export function quotasOf({ quotas = [], metadata }: CredentialsBinding | SecretBinding): NamespacedKey[] {
  return quotas.flatMap(({ name, namespace }) => (name ? [{ name, namespace: namespace || metadata.namespace }] : []));
}

/** Whether two keys name the same object. */
export const isSameKey = (a: NamespacedKey, b: NamespacedKey): boolean =>
  a.name === b.name && a.namespace === b.namespace;

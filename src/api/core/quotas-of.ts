import type { NamespacedKey } from "../schema/kind.ts";
import type { KubeObject, NamespacedMeta } from "../schema/meta.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { CredentialsBinding } from "./credentials-binding.ts";
import type { Reader } from "./effective-profile.ts";
import { Quota } from "./quota.ts";
import { SecretBinding } from "./secret-binding.ts";

/** Of a Shoot, whose credentials it has. */
export interface BoundShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<Shoot["spec"], "credentialsBindingName" | "secretBindingName">;
}

/** The Quotas that the Shoot's binding names, as far as they are there. */
export async function readQuotas(reader: Reader, { spec, metadata: { namespace } }: BoundShoot): Promise<Quota[]> {
  const { credentialsBindingName, secretBindingName } = spec;
  const bindings = [
    credentialsBindingName && (await reader.read(CredentialsBinding, { namespace, name: credentialsBindingName })),
    secretBindingName && (await reader.read(SecretBinding, { namespace, name: secretBindingName })),
  ];
  const keys = bindings.flatMap((binding) => (binding ? quotasOf(binding) : []));
  const found = await Promise.all(keys.map((key) => reader.read(Quota, key)));
  return found.filter((quota) => quota !== undefined);
}

/** The Quotas that a binding names; without a namespace, one is in the binding's own. */
export function quotasOf({
  quotas = [],
  metadata,
}: Pick<CredentialsBinding | SecretBinding, "quotas" | "metadata">): NamespacedKey[] {
  return quotas.flatMap(({ name, namespace }) => (name ? [{ name, namespace: namespace || metadata.namespace }] : []));
}

/** Whether two keys name the same object. */
export const isSameKey = (a: NamespacedKey, b: NamespacedKey): boolean =>
  a.name === b.name && a.namespace === b.namespace;

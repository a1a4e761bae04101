import { GARDEN_NAMESPACE } from "../names.ts";
import type { Named, Reference } from "../shoot/references.ts";
import type { Seed } from "./seed.ts";

/** An object that is needed, and the field that names it. */
export type NeededReference = Pick<Reference, "kind" | "namespace" | "name" | "field">;

/** The Secrets and ConfigMaps that a Seed names: credentials of its backups and of its DNS providers, and what its settings refer to. */
export function referencesOfSeed({
  spec: { backup, dns, resources = [] },
}: Pick<Seed, "spec">): readonly NeededReference[] {
  const named: readonly (readonly [string, Named | undefined])[] = [
    ["spec.backup.credentialsRef", backup?.credentialsRef],
    ["spec.dns.provider.credentialsRef", dns.provider?.credentialsRef],
    ["spec.dns.internal.credentialsRef", dns.internal?.credentialsRef],
    ...(dns.defaults ?? []).map(
      ({ credentialsRef }, at) => [`spec.dns.defaults[${at}].credentialsRef`, credentialsRef] as const,
    ),
    ...resources.map(({ resourceRef }, at) => [`spec.resources[${at}].resourceRef`, resourceRef] as const),
  ];
  return named.flatMap(([field, { kind = "Secret", name, namespace = GARDEN_NAMESPACE } = {}]) =>
    name === undefined ? [] : [{ kind, namespace, name, field }],
  );
}

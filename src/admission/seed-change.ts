import type { Seed } from "../api/index.ts";
import { canonicalName, isWithin } from "../dns/domain.ts";
import { keyOf, type KnownShoot } from "./watched/known.ts";
import type { Cause } from "./review.ts";

/**
 * Why a Seed with Shoots cannot change like this: control planes are in its zones, and Shoots' addresses in its domains
 * (Gardener: ValidateZoneRemovalFromSeeds, ValidateInternalDomainChangeForSeed, ValidateDefaultDomainsChangeForSeed). Pure.
 */
export function seedChangeCauses(seed: Seed, old: Seed, shoots: readonly KnownShoot[]): Cause[] {
  if (shoots.length === 0) return [];
  const zones = (old.spec.provider.zones ?? []).filter((zone) => !seed.spec.provider.zones?.includes(zone));
  const [internal, before] = [seed, old].map(({ spec }) => spec.dns.internal?.domain);
  const kept = new Set((seed.spec.dns.defaults ?? []).map(({ domain }) => canonicalName(domain)));
  const lost = (old.spec.dns.defaults ?? []).filter(({ domain }) => !kept.has(canonicalName(domain)));
  return [
    ...(zones.length > 0
      ? [refuse("spec.provider.zones", `${zones.join(", ")} cannot be removed: control planes may be there`)]
      : []),
    ...(before !== undefined && internal !== before
      ? [
          refuse(
            "spec.dns.internal.domain",
            `cannot change from ${before}: the Shoots' machines know their API servers by it`,
          ),
        ]
      : []),
    ...lost.flatMap(({ domain }) => {
      const users = shoots.filter(({ spec: { dns } }) => dns?.domain !== undefined && isWithin(dns.domain, domain));
      const names = [...new Set(users.map(({ metadata }) => keyOf(metadata)))].slice(0, 10);
      return users.length === 0
        ? []
        : [refuse("spec.dns.defaults", `${domain} cannot be removed: it is the domain of ${names.join(", ")}`)];
    }),
  ];
}

const refuse = (field: string, message: string): Cause => ({ field, message, forbidden: true });

import { DNS_DOMAIN_ANNOTATION, Seed, Shoot } from "../../api/index.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { canonicalName, isWithin } from "../../dns/domain.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

const field = "spec.dns.domain";

/**
 * Why the Shoot cannot have its domain. Below a default domain a Shoot has its own name only. Internal domains, ingress
 * domains and the leadership domain are the garden's: nothing is below them, and nothing above them either. This holds for
 * the domains of all Seeds, because a Shoot may be on any of them one day (Gardener: plugin ShootDNS).
 */
export async function domainCauses(client: KubeClient, { shoot, old }: ShootChange, project: string): Promise<Cause[]> {
  const domain = shoot.spec.dns?.domain;
  if (domain === undefined || domain === old?.spec.dns?.domain) return [];
  const { reserved, defaults } = await readDomains(client);
  if (reserved.some((one) => meet(domain, one)) || defaults.some((one) => isWithin(one, domain))) {
    return [{ field, message: `${domain} is reserved for this garden's own names: choose another` }];
  }
  const above = defaults.filter((one) => isWithin(domain, one));
  const own = above.map((one) => `${shoot.metadata.name}.${project}.${one}`);
  if (above.length > 0 && !own.includes(domain)) {
    const message = `${domain} is below default domain ${above.join(", ")}, where this Shoot may have ${own.join(" or ")} only`;
    return [{ field, message }];
  }
  return [...(above.length > 0 ? providerCauses(shoot) : []), ...(await clashCauses(client, shoot, domain))];
}

/** Says of a domain that is new on its Seed what it lacks there: a DNS provider that writes its records. */
export function domainWarnings({ shoot: { spec }, old, seed }: ShootChange): string[] {
  const { domain, providers = [] } = spec.dns ?? {};
  if (!domain || !seed || providers.length > 0) return [];
  if (domain === old?.spec.dns?.domain && spec.seedName === old.spec.seedName) return [];
  if (seed.spec.dns.defaults?.some((one) => isWithin(domain, canonicalName(one.domain)))) return [];
  const where = `is in no default domain of Seed ${seed.metadata.name}`;
  return [`${field}: ${domain} ${where}: name a provider with its Secret in spec.dns.providers`];
}

/** A default domain is written with the garden's credentials (Gardener: checkPrimaryDNSProvider). */
function providerCauses({ spec }: Shoot): Cause[] {
  return (spec.dns?.providers ?? []).flatMap(({ primary }, index) =>
    primary
      ? [{ field: `spec.dns.providers[${index}].primary`, message: "must not be set with a default domain" }]
      : [],
  );
}

async function clashCauses(client: KubeClient, { metadata }: Shoot, domain: string): Promise<Cause[]> {
  const isSelf = (other: Shoot["metadata"]) => other.name === metadata.name && other.namespace === metadata.namespace;
  const shoots = await client.list(Shoot);
  const clash = shoots.some(
    (other) => !isSelf(other.metadata) && other.spec.dns?.domain && meet(domain, other.spec.dns.domain),
  );
  return clash ? [{ field, message: `${domain} overlaps with the domain of another Shoot: choose another` }] : [];
}

/** The garden's own domains, of all its Seeds and of its leadership records. */
async function readDomains(client: KubeClient): Promise<{ reserved: string[]; defaults: string[] }> {
  const labelSelector = `${ROLE_LABEL}=leadership-domain`;
  const [seeds, secrets] = await Promise.all([
    client.list(Seed),
    client.list(Secret, { namespace: "garden", labelSelector }),
  ]);
  const defined = (domains: readonly (string | undefined)[]) => [
    ...new Set(domains.flatMap((one) => (one ? [canonicalName(one)] : []))),
  ];
  return {
    reserved: defined([
      ...seeds.map(({ spec }) => spec.dns.internal?.domain),
      ...seeds.map(({ spec }) => spec.ingress?.domain),
      ...secrets.map(({ metadata }) => metadata.annotations?.[DNS_DOMAIN_ANNOTATION]),
    ]),
    defaults: defined(seeds.flatMap(({ spec }) => spec.dns.defaults ?? []).map((one) => one.domain)),
  };
}

const meet = (a: string, b: string): boolean => isWithin(a, b) || isWithin(b, a);

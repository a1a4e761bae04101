import { isOlder } from "../../api/core/domain-reservation.ts";
import { DNS_DOMAIN_ANNOTATION, DomainReservation } from "../../api/index.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { canonicalName, clash, isWithin, meet } from "../../dns/domain.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import { KnownSeed, KnownShoot } from "../watched/known.ts";
import type { ShootChange } from "./change.ts";

const field = "spec.dns.domain";

/**
 * Why the Shoot cannot have its domain. Below a default domain a Shoot has its own name only. Internal domains, ingress
 * domains and the leadership domain are the garden's: nothing is below them, and nothing above them either. This holds for
 * the domains of all Seeds, because a Shoot may be on any of them one day (Gardener: plugin ShootDNS). What another Shoot has, or is to have by
 * a reservation, is not to be had, nor what {@link clash}es with it.
 */
export async function domainCauses(client: KubeClient, { shoot, old }: ShootChange, project: string): Promise<Cause[]> {
  const domain = shoot.spec.dns?.domain;
  if (domain === undefined || domain === old?.spec.dns?.domain) return [];
  const claim = { field, domain, shoot: shoot.metadata, project };
  const domains = await readDomains(client);
  const causes = nameCauses(domains, claim);
  if (causes.length > 0) return causes;
  const isDefault = domains.defaults.some((one) => isWithin(domain, one));
  return [...(isDefault ? providerCauses(shoot) : []), ...(await clashCauses(client, claim))];
}

/** Why a domain cannot be reserved for a Shoot: as the Shoot itself could not have it. Names the Shoot that has it, or is to have it. */
export async function reservationCauses(client: KubeClient, claim: DomainClaim): Promise<Cause[]> {
  const causes = nameCauses(await readDomains(client), claim);
  return causes.length > 0 ? causes : await clashCauses(client, { ...claim, tellsWhose: true });
}

/** A domain that a Shoot is to have. */
export interface DomainClaim {
  /** Where the domain is written. */
  readonly field: string;
  readonly domain: string;
  readonly shoot: { readonly namespace: string; readonly name: string };
  /** The name of the Shoot's project. */
  readonly project: string;
  /** A refusal names the Shoot that has the domain, or is to have it. */
  readonly tellsWhose?: boolean;
}

/** What the names themselves say against a claim. */
function nameCauses({ reserved, defaults }: GardenDomains, { domain, shoot, project, ...claim }: DomainClaim): Cause[] {
  if (reserved.some((one) => meet(domain, one)) || defaults.some((one) => isWithin(one, domain)))
    return [{ field: claim.field, message: `${domain} is reserved for this garden's own names: choose another` }];
  const above = defaults.filter((one) => isWithin(domain, one));
  const own = above.map((one) => `${shoot.name}.${project}.${one}`);
  if (above.length === 0 || own.includes(domain)) return [];
  const message = `${domain} is below default domain ${above.join(", ")}, where this Shoot may have ${own.join(" or ")} only`;
  return [{ field: claim.field, message }];
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
function providerCauses({ spec }: ShootChange["shoot"]): Cause[] {
  return (spec.dns?.providers ?? []).flatMap(({ primary }, index) =>
    primary
      ? [{ field: `spec.dns.providers[${index}].primary`, message: "must not be set with a default domain" }]
      : [],
  );
}

/** Who else has the domain, or one that it clashes with: a Shoot, or one that it is reserved for. */
async function clashCauses(client: KubeClient, { domain, shoot, tellsWhose, ...claim }: DomainClaim): Promise<Cause[]> {
  const isSelf = (other: Key) => other.name === shoot.name && other.namespace === shoot.namespace;
  const [shoots, reservations] = await Promise.all([client.list(KnownShoot), client.list(DomainReservation)]);
  const refuse = (what: string, whose: Key): Cause[] => {
    const other = tellsWhose ? `Shoot ${whose.namespace}/${whose.name}` : "another Shoot";
    return [{ field: claim.field, message: `${domain} overlaps with ${what} ${other}: choose another` }];
  };
  const own = { domain, namespace: shoot.namespace };
  const found = shoots.find(
    ({ metadata, spec }) =>
      !isSelf(metadata) && spec.dns?.domain && clash(own, { domain: spec.dns.domain, ...metadata }),
  );
  if (found !== undefined) return refuse("the domain of", found.metadata);
  const kept = reservations.find(({ spec }) => isSelf(spec.shootRef) && spec.domain === domain);
  const theirs = reservations.find(
    (one) =>
      !isSelf(one.spec.shootRef) &&
      clash(own, { domain: one.spec.domain, namespace: one.spec.shootRef.namespace }) &&
      (kept === undefined || isOlder(one, kept)),
  );
  return theirs === undefined ? [] : refuse("a domain that is reserved for", theirs.spec.shootRef);
}

interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** The garden's own domains, of all its Seeds and of its leadership records. */
async function readDomains(client: KubeClient): Promise<GardenDomains> {
  const labelSelector = `${ROLE_LABEL}=leadership-domain`;
  const [seeds, secrets] = await Promise.all([
    client.list(KnownSeed),
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

interface GardenDomains {
  readonly reserved: readonly string[];
  readonly defaults: readonly string[];
}

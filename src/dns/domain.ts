/** A name as it is compared: DNS does not tell capitals from small letters, nor a name from one with a dot at its end. */
export const canonicalName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Whether a domain is `parent`, or lies below it. */
export function isWithin(domain: string, parent: string): boolean {
  const [name, above] = [canonicalName(domain), canonicalName(parent)];
  return name === above || name.endsWith(`.${above}`);
}

/** A domain, and the namespace of the Shoot that has it, or is to have it. */
export interface OwnedDomain {
  readonly domain: string;
  readonly namespace: string;
}

/**
 * Whether two Shoots cannot have these domains beside each other. In one project they may not overlap, as in Gardener (plugin ShootValidator).
 * Between projects only what both may write records below counts: else the first to take a domain such as `co.uk`, or a company's, would
 * keep it from all others, without having shown that it is theirs. Who may write a record is the DNS provider's to say.
 */
export function clash(one: OwnedDomain, other: OwnedDomain): boolean {
  if (one.namespace === other.namespace) return meet(one.domain, other.domain);
  return hasRecordsBelow(one.domain, other.domain) || hasRecordsBelow(other.domain, one.domain);
}

/** Whether one of two domains is the other, or lies below it. */
export const meet = (a: string, b: string): boolean => isWithin(a, b) || isWithin(b, a);

/** Whether a domain is `parent`, or at or below a name at which a Shoot with domain `parent` has records. */
const hasRecordsBelow = (domain: string, parent: string): boolean =>
  canonicalName(domain) === canonicalName(parent) || written.some((label) => isWithin(domain, `${label}.${parent}`));

/** Below its domain a Shoot has its API server's name, and those of an ingress controller's wildcard (Gardener: `*.ingress`). */
const written = ["api", "ingress"] as const;

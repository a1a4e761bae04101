import { needed, type Pair } from "./demand.ts";
import type { Registered } from "./registered.ts";

/** Two registrations that both say that they are primary for a kind and type. */
export interface PrimaryConflict extends Pair {
  /** The name of the registration that is primary: the older one. */
  readonly primary: string;
}

/**
 * The kinds and types for which a registration cannot be primary, because an older one is. Admission refuses the second;
 * two that are created in the same moment pass it, and then the older one counts, or the first by name.
 */
export function primaryConflicts(registered: Registered, others: Iterable<Registered>): readonly PrimaryConflict[] {
  const claims = new Map<string, Registered>();
  for (const other of others) {
    if (other.name === registered.name || !isBefore(other, registered)) continue;
    for (const offer of other.offers) if (offer.primary) claims.set(needed(offer), other);
  }
  return registered.offers.flatMap((offer) => {
    const owner = offer.primary ? claims.get(needed(offer)) : undefined;
    return owner === undefined ? [] : [{ kind: offer.kind, type: offer.type, primary: owner.name }];
  });
}

const isBefore = (one: Registered, other: Registered): boolean =>
  one.createdAt === other.createdAt ? one.name < other.name : one.createdAt < other.createdAt;

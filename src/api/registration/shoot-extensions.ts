import { defaultLifecycle, type ShootExtension } from "../extensions/lifecycle.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { machinesOf } from "./demand.ts";
import { primaryConflicts } from "./primaries.ts";
import type { Offer, Registered } from "./registered.ts";

/**
 * The Extensions that a Shoot has, by type: those that its spec asks for, and those that registrations give to every Shoot
 * that does not refuse them. One that its spec asks for stays while its registration is away: it is not to be deleted
 * because an operator installs it anew. Contract section C8.1.
 */
export function extensionsOf(
  shoot: Pick<Shoot, "spec">,
  registrations: readonly Registered[],
): readonly ShootExtension[] {
  const offers = new Map(primaryOffers(registrations).map((offer) => [offer.type, offer]));
  const offered = [...offers.values()].flatMap((offer) => (hasExtension(shoot, offer) ? [extensionOf(offer)] : []));
  const unregistered = (shoot.spec.extensions ?? []).flatMap(({ type, disabled }) =>
    disabled === true || offers.has(type) ? [] : [{ type, ...defaultLifecycle }],
  );
  return [...offered, ...unregistered].sort((one, other) => (one.type < other.type ? -1 : 1));
}

/** Whether a Shoot has the Extension that is offered: it asks for it, or has it like every Shoot and does not refuse it. */
export function hasExtension(
  shoot: Pick<Shoot, "spec">,
  { type, compatible, workerlessSupported, autoEnable }: Offer,
): boolean {
  if (!compatible.includes("shoot") || (machinesOf(shoot) === "workerless" && !workerlessSupported)) return false;
  const own = (shoot.spec.extensions ?? []).find((one) => one.type === type);
  return own === undefined ? autoEnable.includes("shoot") : own.disabled !== true;
}

/** Of two that say that they are primary, the older one's. */
function primaryOffers(registrations: readonly Registered[]): Offer[] {
  return registrations.flatMap((registered) => {
    const conflicts = primaryConflicts(registered, registrations).filter(({ kind }) => kind === "Extension");
    const lost = new Set(conflicts.map(({ type }) => type));
    return registered.offers.filter(({ kind, type, primary }) => kind === "Extension" && primary && !lost.has(type));
  });
}

const extensionOf = ({ type, lifecycle, reconcileTimeout }: Offer): ShootExtension => ({
  type,
  ...defaultLifecycle,
  ...lifecycle,
  ...(reconcileTimeout === undefined ? {} : { deadline: reconcileTimeout }),
});

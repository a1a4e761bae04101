import type { ControllerInstallation } from "../core/controller-installation.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { needed, pairsOfSeed, pairsOfShoot, type Pair } from "./demand.ts";
import { isSpokenFor, whyNotReady, type NotReady } from "./installation.ts";
import { primaryConflicts } from "./primaries.ts";
import type { Offer, Registered } from "./registered.ts";
import { hasExtension } from "./shoot-extensions.ts";

/** A controller that a Shoot needs on its Seed, and that is not at its service there. */
export interface MissingExtension extends NotReady {
  readonly registration: string;
  /** The kinds and types that the Shoot needs it for. */
  readonly pairs: readonly string[];
  readonly installation?: string;
}

/** A registered controller, and the kinds and types that it is needed for. */
export interface NeededRegistration {
  readonly registered: Registered;
  readonly pairs: readonly string[];
}

/** What is known of a Seed's extensions. */
export interface SeedExtensions {
  readonly registrations: readonly Registered[];
  /** Those on the Seed. */
  readonly installations: readonly ControllerInstallation[];
}

/**
 * The controllers that have to be installed, healthy and rolled out before a Shoot is worked on (contract C1.1, C8.2): the
 * primary ones of what it needs. A kind and type that no registration offers is not waited for, and neither is a
 * registration that says nothing of a deployment, until its operator says something of the installation: decision 0019.
 */
export function missingExtensions(
  shoot: Pick<Shoot, "spec">,
  seed: Pick<Seed, "spec"> | undefined,
  known: SeedExtensions,
): readonly MissingExtension[] {
  return notReady(registrationsFor(shoot, seed, known.registrations), known);
}

/** Those of the controllers that are not at their service yet, by the rules of {@link missingExtensions}. */
export function notReady(
  wanted: readonly NeededRegistration[],
  { installations }: Pick<SeedExtensions, "installations">,
): readonly MissingExtension[] {
  return wanted.flatMap(({ registered, pairs }) => {
    const { name, method } = registered;
    const found = installations.find(({ spec }) => spec.registrationRef.name === name);
    if (method.by === "others" && (found === undefined || !isSpokenFor(found))) return [];
    const about = { registration: name, pairs };
    if (found === undefined) return [{ ...about, reason: registered.deleting ? installedNoMore : notYetInstalled }];
    const why = whyNotReady(found);
    return why === undefined ? [] : [{ ...about, installation: found.metadata.name, ...why }];
  });
}

const notYetInstalled = "there is no ControllerInstallation yet";
const installedNoMore = "its ControllerRegistration is being deleted, so that it is not installed any more";

/** The primary controllers of what a Shoot needs on a Seed, with what it needs each for. */
export function registrationsFor(
  shoot: Pick<Shoot, "spec">,
  seed: Pick<Seed, "spec"> | undefined,
  registrations: readonly Registered[],
): readonly NeededRegistration[] {
  return primariesFor([...pairsOfShoot(shoot), ...pairsFromSeed(seed)], registrations, (offer) =>
    hasExtension(shoot, offer),
  );
}

/** The primary controllers of kinds and types, and of the Extensions for which `enables` holds, with what each is for. */
export function primariesFor(
  pairs: readonly Pair[],
  registrations: readonly Registered[],
  enables: (offer: Offer) => boolean = () => false,
): readonly NeededRegistration[] {
  const words = new Set(pairs.map(needed));
  return registrations.flatMap((registered) => {
    const offers = registered.offers.filter(
      (offer) => offer.primary && (offer.kind === "Extension" ? enables(offer) : words.has(needed(offer))),
    );
    if (offers.length === 0 || primaryConflicts(registered, registrations).length > 0) return [];
    return [{ registered, pairs: offers.map(({ kind, type }) => `${kind} ${type}`) }];
  });
}

/** What every Shoot of the Seed has there: its names in the Seed's domain, and its backups. */
const pairsFromSeed = (seed: Pick<Seed, "spec"> | undefined) =>
  seed === undefined ? [] : pairsOfSeed(seed).filter(({ kind }) => kind === "DNSRecord" || kind.startsWith("Backup"));

/** What is missing, as one sentence: which controllers, what for, why, and since when. */
export const describeMissing = (missing: readonly MissingExtension[], seedName: string): string =>
  `extensions on Seed ${seedName} are not ready: ${missing.map(inWords).join("; ")}`;

const inWords = ({ registration, pairs, reason, since }: MissingExtension): string =>
  `${registration}, needed for ${pairs.join(", ")}: ${reason}${since === undefined ? "" : ` (since ${since})`}`;

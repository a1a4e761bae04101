import { selects, type SelectedSeed } from "../placement/choice.ts";
import { disabled, enabled, needed, present, type Machines, type Word } from "./demand.ts";
import type { Offer, Registered } from "./registered.ts";

/** A Seed, as far as it decides which controllers it gets. */
export interface WantingSeed extends SelectedSeed {
  readonly name: string;
  readonly deleting: boolean;
  /** How many objects on the Seed say a word. */
  count(word: Word): number;
  /** The kinds and types that the Seed itself needs. */
  readonly own: ReadonlySet<Word>;
  /** What the Seed's own spec says of Extensions, by their type. */
  readonly extensions: ReadonlyMap<string, "enabled" | "disabled">;
}

/**
 * Why a registered controller is wanted on a Seed, one sentence for each reason; none where it is not. Those that are not
 * primary are wanted with the rest. Policies, selectors and what counts as needed: contract section C8.1. One that is being
 * deleted is wanted for what Shoots and backups ask for; nothing new is installed for it.
 */
export function reasonsToInstall(registered: Registered, seed: WantingSeed): readonly string[] {
  if (!selects(registered.seedSelector, seed)) return [];
  return registered.deleting
    ? reasonsOf(withoutOwnWishes(registered), { ...seed, deleting: true })
    : reasonsOf(registered, seed);
}

/** The registration without what it gives to Seeds and Shoots that do not ask for it: its policy, and Extensions for all. */
export const withoutOwnWishes = (registered: Registered): Registered => ({
  ...registered,
  policy: "OnDemand",
  offers: registered.offers.map((offer) => ({ ...offer, autoEnable: [] })),
});

/** The registration as flows go by it: one that is being deleted serves who asks for it until it is gone, and is given to none unasked. */
export const asItServes = (registered: Registered): Registered =>
  registered.deleting ? withoutOwnWishes(registered) : registered;

function reasonsOf(registered: Registered, seed: WantingSeed): readonly string[] {
  return [...policyReasons(registered, seed), ...registered.offers.flatMap((offer) => offerReasons(offer, seed))];
}

function policyReasons({ policy }: Registered, seed: WantingSeed): string[] {
  if (policy === "Always" && !seed.deleting) return ["its policy is Always"];
  if (policy === "AlwaysExceptNoShoots" && hasShoots(seed)) return ["the Seed has Shoots (AlwaysExceptNoShoots)"];
  return [];
}

function offerReasons(offer: Offer, seed: WantingSeed): string[] {
  const { kind, type } = offer;
  if (kind === "Extension") return extensionReasons(offer, seed);
  const word = needed(offer);
  if (seed.count(word) > 0) return [`${kind} ${type} is needed by Shoots or backups`];
  return seed.own.has(word) && isServing(seed) ? [`${kind} ${type} is needed by the Seed`] : [];
}

function extensionReasons(offer: Offer, seed: WantingSeed): string[] {
  return [
    ...(offer.compatible.includes("shoot") ? shootReasons(offer, seed) : []),
    ...(offer.compatible.includes("seed") && isServing(seed) ? seedReasons(offer, seed) : []),
  ];
}

function shootReasons({ type, autoEnable, workerlessSupported }: Offer, seed: WantingSeed): string[] {
  const supported: readonly Machines[] = workerlessSupported ? ["workers", "workerless"] : ["workers"];
  const asked = supported.some((machines) => seed.count(enabled(type, machines)) > 0);
  const unrefused = supported.some((machines) => seed.count(present(machines)) > seed.count(disabled(type, machines)));
  return [
    ...(asked ? [`Extension ${type} is enabled by Shoots`] : []),
    ...(autoEnable.includes("shoot") && unrefused ? [`Extension ${type} is there for every Shoot`] : []),
  ];
}

function seedReasons({ type, autoEnable }: Offer, { extensions }: WantingSeed): string[] {
  const own = extensions.get(type);
  if (own === "enabled") return [`Extension ${type} is enabled by the Seed`];
  return own === undefined && autoEnable.includes("seed") ? [`Extension ${type} is there for every Seed`] : [];
}

/** A Seed that goes needs its own parts as long as it has Shoots; and so does one whose part goes. */
const isServing = (seed: WantingSeed): boolean => !seed.deleting || hasShoots(seed);

const hasShoots = (seed: WantingSeed): boolean =>
  seed.count(present("workers")) + seed.count(present("workerless")) > 0;

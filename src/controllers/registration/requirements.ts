import {
  countsOnce,
  disabled,
  enabled,
  needed,
  present,
  type Machines,
  type Word,
} from "../../api/registration/demand.ts";
import { primaryConflicts, type PrimaryConflict } from "../../api/registration/primaries.ts";
import type { Registered } from "../../api/registration/registered.ts";
import { reasonsToInstall, type WantingSeed } from "../../api/registration/wanted.ts";

/** An object that asks Seeds for something. */
export interface Asking {
  readonly seeds: readonly string[];
  readonly words: readonly Word[];
}

/** A Seed without what is counted there. */
export type SeedFacts = Omit<WantingSeed, "count">;

/** A registration on a Seed, of which it has to be decided anew whether it is wanted there. */
export type OnCell = (registration: string, seed: string) => void;

/**
 * Which controllers Seeds want, kept up to date change by change: what an object asks for is counted by Seed and word, and
 * only the registrations to which a word whose count has changed means something are decided anew, on that Seed. Nothing here
 * grows with the number of objects that have not changed.
 */
export function createRequirements(onCell: OnCell) {
  const askings = new Map<string, Asking>();
  const counts = new Map<string, Map<Word, number>>();
  const seeds = new Map<string, SeedFacts>();
  const registrations = new Map<string, Registered>();
  const listeners = new Map<Word, Set<string>>();

  const count = (seed: string, word: Word) => counts.get(seed)?.get(word) ?? 0;

  const setCount = (seed: string, word: Word, now: number) => {
    const words = counts.get(seed) ?? new Map<Word, number>();
    if (now === 0) words.delete(word);
    else words.set(word, now);
    if (words.size === 0) counts.delete(seed);
    else counts.set(seed, words);
  };

  const add = (seed: string, word: Word, by: 1 | -1) => {
    const now = count(seed, word) + by;
    setCount(seed, word, now);
    if (countsOnce(word) && now !== 0 && now !== by) return;
    for (const registration of listeners.get(word) ?? []) onCell(registration, seed);
    if (seeds.get(seed)?.deleting === true && isPresence(word)) allOf(seed);
  };

  const allOf = (seed: string) => {
    for (const registration of registrations.keys()) onCell(registration, seed);
  };
  const everywhere = (registration: string) => {
    for (const seed of seeds.keys()) onCell(registration, seed);
  };

  /** Those that claim the same kinds and types: who is primary may be another now. */
  const rivalsOf = (registered: Registered): string[] =>
    registered.offers.flatMap((offer) => (offer.primary ? [...(listeners.get(claim(needed(offer))) ?? [])] : []));

  const listen = (registered: Registered, change: "add" | "delete") => {
    for (const word of wordsFor(registered)) {
      const known = listeners.get(word) ?? new Set<string>();
      known[change](registered.name);
      if (known.size === 0) listeners.delete(word);
      else listeners.set(word, known);
    }
  };

  return {
    /** What an object asks for from now on; nothing when it is gone. */
    ask(id: string, asking: Asking | undefined): void {
      const before = cellsOf(askings.get(id));
      const after = cellsOf(asking);
      if (asking === undefined) askings.delete(id);
      else askings.set(id, asking);
      for (const [key, [seed, word]] of after) if (!before.has(key)) add(seed, word, 1);
      for (const [key, [seed, word]] of before) if (!after.has(key)) add(seed, word, -1);
    },
    setSeed(name: string, facts: SeedFacts | undefined): void {
      if (facts === undefined) seeds.delete(name);
      else seeds.set(name, facts);
      allOf(name);
    },
    setRegistration(name: string, registered: Registered | undefined): void {
      const before = registrations.get(name);
      if (before !== undefined) listen(before, "delete");
      if (registered === undefined) registrations.delete(name);
      else registrations.set(name, registered);
      if (registered !== undefined) listen(registered, "add");
      const rivals = [before, registered].flatMap((one) => (one === undefined ? [] : rivalsOf(one)));
      for (const one of new Set([name, ...rivals])) everywhere(one);
    },
    seedNames: () => [...seeds.keys()],
    registered: (name: string) => registrations.get(name),
    /** Why the registration's controller is wanted on the Seed; none where it is not. */
    reasons(registration: string, seed: string): readonly string[] {
      const [registered, facts] = [registrations.get(registration), seeds.get(seed)];
      if (registered === undefined || facts === undefined || this.conflicts(registered).length > 0) return [];
      return reasonsToInstall(registered, { ...facts, count: (word) => count(seed, word) });
    },
    /** What another registration is primary for. */
    conflicts(registered: Registered): readonly PrimaryConflict[] {
      const rivals = rivalsOf(registered).flatMap((name) => registrations.get(name) ?? []);
      return primaryConflicts(registered, rivals);
    },
  };
}

/** {@link createRequirements}'s result. */
export type Requirements = ReturnType<typeof createRequirements>;

function cellsOf(asking: Asking | undefined): Map<string, readonly [string, Word]> {
  const { seeds = [], words = [] } = asking ?? {};
  return new Map(seeds.flatMap((seed) => words.map((word) => [`${seed} ${word}`, [seed, word] as const])));
}

const bothMachines: readonly Machines[] = ["workers", "workerless"];

const isPresence = (word: Word): boolean => bothMachines.some((machines) => present(machines) === word);

/** The words whose counts decide where a controller is wanted, and the kinds and types that it claims. */
function wordsFor({ offers, policy, deleting }: Registered): Set<Word> {
  const ofOffers = offers.flatMap((offer) => [
    ...(offer.primary ? [claim(needed(offer))] : []),
    ...(offer.kind === "Extension"
      ? bothMachines.flatMap((one) => [enabled(offer.type, one), disabled(offer.type, one)])
      : [needed(offer)]),
  ]);
  const ofShoots =
    deleting || policy === "AlwaysExceptNoShoots" || offers.some(({ autoEnable }) => autoEnable.includes("shoot"));
  return new Set([...ofOffers, ...(ofShoots ? bothMachines.map(present) : [])]);
}

const claim = (word: Word): Word => `primary for ${word}`;

import type { Seed } from "../core/seed.ts";
import { eligibilityObstacles, type Candidacy } from "./eligibility.ts";
import { nearestSeeds, type Distances, type Strategy } from "./strategy.ts";
import { preferredByZone } from "./zones.ts";

/** The condition of a Shoot that says which Seed the scheduler has chosen, or why it has none. */
export const SCHEDULED = "Scheduled";

/** A Shoot without a Seed, and all that its Seed is chosen by. */
export interface SchedulingFacts extends Pick<Candidacy, "shoot" | "profile" | "project" | "now"> {
  readonly seeds: readonly Seed[];
  /** How many Shoots are on each Seed, or on their way to it. */
  readonly usage: ReadonlyMap<string, number>;
  readonly strategy: Strategy;
  readonly distances?: Distances | undefined;
}

/** The Seed that a Shoot gets, or why each of them does not take it. */
export type Choice = { readonly seed: string } | { readonly refusals: readonly string[] };

/**
 * Chooses a Seed: one that takes the Shoot, is near by the strategy, and has the fewest Shoots; of several the first by name,
 * so that the same facts lead to the same choice. Pure.
 */
export function chooseSeed(facts: SchedulingFacts): Choice {
  const { shoot, seeds, usage } = facts;
  const defaultDomains = seeds.flatMap(({ spec }) => (spec.dns.defaults ?? []).map(({ domain }) => domain));
  const judged = seeds.map((seed) => {
    const neighbours = shootsOn(usage, seed);
    return { seed, obstacles: eligibilityObstacles({ ...facts, seed, neighbours, defaultDomains }) };
  });
  const fit = judged.filter(({ obstacles }) => obstacles.length === 0).map(({ seed }) => seed);
  const near = nearestSeeds(shoot, preferredByZone(shoot, fit), facts);
  const [best] = [...near].sort((a, b) => shootsOn(usage, a) - shootsOn(usage, b) || compareNames(a, b));
  if (best !== undefined) return { seed: best.metadata.name };
  return {
    refusals: judged.map(({ seed, obstacles }) =>
      obstacles.length > 0 ? obstacles.map(({ message }) => message).join(", ") : tooFar(facts, seed),
    ),
  };
}

function tooFar({ shoot: { spec }, strategy }: SchedulingFacts, { metadata, spec: { provider } }: Seed): string {
  return `Seed ${metadata.name} is in region ${provider.region} of provider ${provider.type}, not in ${spec.region} of ${spec.provider.type} (strategy ${strategy})`;
}

const shootsOn = (usage: ReadonlyMap<string, number>, { metadata }: Seed): number => usage.get(metadata.name) ?? 0;

const compareNames = (a: Seed, b: Seed): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** Whether a Shoot's Seed is for Perennial's scheduler to choose: it asks for no other. */
export const isForScheduler = ({ spec }: { readonly spec: { readonly schedulerName?: string | undefined } }): boolean =>
  [undefined, "default-scheduler"].includes(spec.schedulerName);

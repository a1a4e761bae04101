import type { Seed } from "../core/seed.ts";
import { editDistance } from "../schema/edit-distance.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** How the scheduler chooses among Seeds that all take the Shoot, by upstream's names. */
export const strategies = ["SameRegion", "MinimalDistance"] as const;

/** One of {@link strategies}. */
export type Strategy = (typeof strategies)[number];

/** How far it is from the Shoot's region to others, as the garden's ConfigMap says; in whatever unit that has. */
export type Distances = Readonly<Record<string, number>>;

/**
 * The Seeds that a strategy leaves. A Shoot for tests goes wherever its provider has a Seed (Gardener: applyStrategy). Pure.
 */
export function nearestSeeds(
  { spec }: Pick<Shoot, "spec">,
  seeds: readonly Seed[],
  { strategy, distances }: { readonly strategy: Strategy; readonly distances?: Distances | undefined },
): readonly Seed[] {
  const sameProvider = seeds.filter((seed) => seed.spec.provider.type === spec.provider.type);
  if (spec.purpose === "testing") return sameProvider;
  if (strategy === "SameRegion") return sameProvider.filter((seed) => seed.spec.provider.region === spec.region);
  const known = distances && { [spec.region]: 0, ...distances };
  const near = known === undefined ? [] : closest(seeds, ({ spec: { provider } }) => known[provider.region]);
  return near.length > 0 ? near : closest(seeds, (seed) => likeness(spec, seed));
}

/** Where nothing is known of distances, regions of like names count as near, and another provider's as farther. */
function likeness({ region, provider }: Shoot["spec"], seed: Seed): number {
  const isOther = seed.spec.provider.type !== provider.type;
  return editDistance(seed.spec.provider.region, region) + (isOther ? 2 : 0);
}

/** Those at the least distance; one whose distance is not known is not among them. */
function closest(seeds: readonly Seed[], distanceOf: (seed: Seed) => number | undefined): Seed[] {
  const measured = seeds.flatMap((seed) => {
    const distance = distanceOf(seed);
    return distance === undefined ? [] : [{ seed, distance }];
  });
  const least = Math.min(...measured.map(({ distance }) => distance));
  return measured.filter(({ distance }) => distance === least).map(({ seed }) => seed);
}

import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";
import type { Obstacle } from "./fit.ts";

/**
 * Why the Seed has not the zones that the Shoot's control plane is to be in: three for one that outlives a zone, those that
 * it names, or, where the Seed insists, one of its workers' (Gardener: scheduler, zone selection).
 */
export function zoneObstacles(shoot: Shoot, seed: Seed): Obstacle[] {
  const { name } = seed.metadata;
  const zones = seed.spec.provider.zones ?? [];
  const { highAvailability, zones: wanted = [] } = shoot.spec.controlPlane ?? {};
  if (highAvailability?.failureTolerance.type === "zone") {
    if (zones.length >= 3) return [];
    const message = `Seed ${name} has ${zones.length} zones, and a control plane that outlives a zone needs three`;
    return [{ field: "spec.controlPlane.highAvailability", message }];
  }
  const missing = wanted.filter((zone) => !zones.includes(zone));
  if (missing.length > 0)
    return [{ field: "spec.controlPlane.zones", message: `Seed ${name} is not in zone ${missing.join(", ")}` }];
  if (wanted.length > 0 || zoneMode(seed) !== "Enforce" || sharesZone(shoot, seed) !== false) return [];
  const message = `Seed ${name} takes control planes only where their workers are (spec.settings.zoneSelection), and is in none of their zones`;
  return [{ field: "spec.provider.workers", message }];
}

/** Those of the Seeds that a Shoot is to be given if it can: a Seed that prefers workers' zones comes after others elsewhere. */
export function preferredByZone(shoot: Shoot, seeds: readonly Seed[]): readonly Seed[] {
  const control = shoot.spec.controlPlane;
  if (control?.highAvailability?.failureTolerance.type === "zone" || (control?.zones ?? []).length > 0) return seeds;
  const preferred = seeds.filter((seed) => zoneMode(seed) !== "Prefer" || sharesZone(shoot, seed) !== false);
  return preferred.length > 0 ? preferred : seeds;
}

const zoneMode = ({ spec }: Seed): string | undefined => spec.settings?.zoneSelection?.mode;

/** Whether a worker pool is in one of the Seed's zones; undefined where no pool names a zone. */
function sharesZone({ spec }: Shoot, seed: Seed): boolean | undefined {
  const pools = (spec.provider.workers ?? []).flatMap(({ zones = [] }) => zones);
  return pools.length === 0 ? undefined : pools.some((zone) => seed.spec.provider.zones?.includes(zone));
}

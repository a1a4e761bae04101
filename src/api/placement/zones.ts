import { createHash } from "node:crypto";
import { counted } from "../counted.ts";
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
    const message = `Seed ${name} has ${counted(zones.length, "zone")}, and a control plane that outlives a zone needs three`;
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

/**
 * The Seed's zones that a Shoot's control plane is in: three for one that outlives a zone, else one; those that it names,
 * else those of its workers where the Seed looks at them. Volumes cannot leave a zone: what was chosen before stays. Empty
 * where the Seed names no zones. `uid` is the Shoot's (Gardener: gardenlet, calculateShootZones).
 */
export function zonesOfControlPlane(shoot: Shoot, seed: Seed, uid: string, chosen: readonly string[]): string[] {
  const offered = seed.spec.provider.zones ?? [];
  const { highAvailability, zones: named = [] } = shoot.spec.controlPlane ?? {};
  const count = highAvailability?.failureTolerance.type === "zone" ? 3 : 1;
  const workers = count === 1 && zoneMode(seed) !== undefined ? zonesOfWorkers(shoot) : [];
  const pools = [named, workers, offered].map((pool) => pool.filter((zone) => offered.includes(zone)));
  const pool = pools.find((zones) => zones.length > 0) ?? [];
  const kept = chosen.filter((zone) => offered.includes(zone));
  const added = inOrderOf(uid, pool).filter((zone) => !kept.includes(zone));
  return [...kept, ...added.slice(0, Math.max(0, count - kept.length))].sort();
}

/** The zones in an order that is the Shoot's own, so that the Shoots of a Seed are in all of them. */
function inOrderOf(uid: string, zones: readonly string[]): string[] {
  const rank = (zone: string) => createHash("sha256").update(`${uid}/${zone}`).digest("hex");
  return zones.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

const zoneMode = ({ spec }: Seed): string | undefined => spec.settings?.zoneSelection?.mode;

/** Whether a worker pool is in one of the Seed's zones; undefined where no pool names a zone. */
function sharesZone({ spec }: Shoot, seed: Seed): boolean | undefined {
  const pools = zonesOfWorkers({ spec });
  return pools.length === 0 ? undefined : pools.some((zone) => seed.spec.provider.zones?.includes(zone));
}

const zonesOfWorkers = ({ spec }: Pick<Shoot, "spec">): string[] =>
  (spec.provider.workers ?? []).flatMap(({ zones = [] }) => zones);

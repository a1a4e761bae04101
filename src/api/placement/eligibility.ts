import { EMERGENCY_STOP_ANNOTATION } from "../annotations.ts";
import type { CloudProfile } from "../core/cloud-profile.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { placementObstacles } from "./choice.ts";
import { bucketObstacles, describeHeartbeat, isSeedReady, networkObstacles, type Obstacle } from "./fit.ts";
import { zoneObstacles } from "./zones.ts";

/** A Shoot without a Seed, and a Seed that might take it. */
export interface Candidacy {
  readonly shoot: Shoot;
  readonly seed: Seed;
  readonly profile: CloudProfile | undefined;
  /** How many other Shoots the Seed has. */
  readonly neighbours: number;
  /** The name of the Shoot's project. */
  readonly project: string;
  /** The default domains of all Seeds. */
  readonly defaultDomains: readonly string[];
  readonly now: Date;
}

/** Every reason why the scheduler does not give the Shoot this Seed (Gardener: scheduler, its filters). Pure. */
export function eligibilityObstacles(candidacy: Candidacy): Obstacle[] {
  const { shoot, seed, profile } = candidacy;
  const settled = withSuggestedNetworks(shoot, seed);
  return [
    ...usabilityObstacles(seed, candidacy.now),
    ...providerObstacles(shoot, seed, profile),
    ...placementObstacles(candidacy),
    ...zoneObstacles(shoot, seed),
    ...domainObstacles(candidacy),
    ...missingNetworks(settled, seed),
    ...networkObstacles(settled, seed),
  ];
}

const field = "spec.seedName";
const obstacle = (message: string): Obstacle => ({ field, message });

function usabilityObstacles(seed: Seed, now: Date): Obstacle[] {
  const { name, deletionTimestamp, annotations } = seed.metadata;
  if (deletionTimestamp !== undefined) return [obstacle(`Seed ${name} is being deleted`)];
  const hidden = seed.spec.settings?.scheduling?.visible === false;
  const stopped = annotations?.[EMERGENCY_STOP_ANNOTATION] === "true";
  return [
    ...(hidden ? [obstacle(`Seed ${name} is hidden from the scheduler (spec.settings.scheduling.visible)`)] : []),
    ...(stopped ? [obstacle(`Seed ${name} has stopped all operations`)] : []),
    ...(isSeedReady(seed, now) ? [] : [obstacle(`Seed ${name} is not ready: ${describeHeartbeat(seed, now)}`)]),
    ...bucketObstacles(seed, field),
  ];
}

/** Unless the CloudProfile names the providers whose Seeds it takes, they are those of the Shoot's own. */
function providerObstacles({ spec }: Shoot, seed: Seed, profile: CloudProfile | undefined): Obstacle[] {
  const { type } = seed.spec.provider;
  if ((profile?.spec.seedSelector?.providerTypes ?? []).length > 0 || type === spec.provider.type) return [];
  return [obstacle(`Seed ${seed.metadata.name} is of provider ${type}, not of ${spec.provider.type}`)];
}

/** Below a default domain a Shoot has its own name only, and only on Seeds that write records in that domain. */
function domainObstacles({ shoot, seed, project, defaultDomains }: Candidacy): Obstacle[] {
  const domain = shoot.spec.dns?.domain;
  if (domain === undefined || !defaultDomains.some((one) => domain.endsWith(`.${one}`))) return [];
  const own = (seed.spec.dns.defaults ?? []).map((one) => `${shoot.metadata.name}.${project}.${one.domain}`);
  if (own.includes(domain)) return [];
  return [{ field: "spec.dns.domain", message: `Seed ${seed.metadata.name} does not write records for ${domain}` }];
}

/** The Shoot with the networks that it would have on the Seed: what it leaves open, the Seed suggests. */
function withSuggestedNetworks(shoot: Shoot, { spec }: Seed): Shoot {
  return {
    ...shoot,
    spec: { ...shoot.spec, networking: { ...spec.networks.shootDefaults, ...shoot.spec.networking } },
  };
}

function missingNetworks({ spec }: Shoot, { metadata }: Seed): Obstacle[] {
  if ((spec.provider.workers ?? []).length === 0) return [];
  const missing = (["pods", "services"] as const).filter((network) => !spec.networking?.[network]);
  return missing.map((network) => ({
    field: `spec.networking.${network}`,
    message: `Seed ${metadata.name} suggests no network for ${network}, and the Shoot has none`,
  }));
}

import { needed, pairsOfShoot, wordsOfShoot, type Pair } from "../../api/registration/demand.ts";
import type { Registered } from "../../api/registration/registered.ts";
import { reasonsToInstall, type WantingSeed } from "../../api/registration/wanted.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import type { Shoot } from "../../api/shoot/shoot.ts";

/** What decides which controllers a self-hosted Shoot needs. */
export interface Demand {
  readonly shoot: Pick<Shoot, "spec">;
  /** Whether the provider makes networks and machines, rather than the operator. */
  readonly managedInfrastructure: boolean;
  /** The provider of the bucket that holds the Shoot's backups already. */
  readonly bucketType?: string | undefined;
}

/** Kinds that nothing makes an object of where networks and machines are the operator's. */
const INFRASTRUCTURE = ["Infrastructure", "Worker"];

/** The kinds and types that a self-hosted Shoot needs, Extensions left out: those are enabled by more than the spec. */
export function neededPairs({ shoot, managedInfrastructure, bucketType }: Demand): readonly Pair[] {
  const pools = controlPlanePools(shoot).map(({ controlPlane }) => controlPlane);
  const isExposed = pools.some((controlPlane) => controlPlane?.exposure !== undefined);
  const isNeeded = ({ kind }: Pair) =>
    managedInfrastructure || (!INFRASTRUCTURE.includes(kind) && (kind !== "DNSRecord" || isExposed));
  const buckets = [bucketType, ...pools.map((controlPlane) => controlPlane?.backup?.provider)];
  const exposures = pools.flatMap((controlPlane) => controlPlane?.exposure?.extension ?? []);
  return [
    ...pairsOfShoot(shoot).filter(isNeeded),
    ...exposures.map(({ type = shoot.spec.provider.type }) => ({ kind: "SelfHostedShootExposure", type })),
    ...[...new Set(buckets)].flatMap((type) =>
      type === undefined ? [] : ["BackupBucket", "BackupEntry"].map((kind) => ({ kind, type })),
    ),
  ];
}

/**
 * The names of the registrations whose controllers the Shoot's cluster gets, by the rules of Seeds (contract C8.1): the
 * Shoot is all that is on it, and it is no Seed, so that nothing is there for a Seed's sake, nor by a Seed's labels.
 */
export function neededRegistrations(demand: Demand, registrations: readonly Registered[]): ReadonlySet<string> {
  const words = new Set([
    ...neededPairs(demand).map(needed),
    ...wordsOfShoot(demand.shoot).filter((word) => !/^\w+\//.test(word)),
  ]);
  const extensions = registrations.flatMap(({ offers }) => offers.filter(({ kind }) => kind === "Extension"));
  const cluster: WantingSeed = {
    name: "",
    deleting: false,
    metadata: {},
    spec: { provider: { type: demand.shoot.spec.provider.type } },
    count: (word) => (words.has(word) ? 1 : 0),
    own: new Set(),
    extensions: new Map(extensions.map(({ type }) => [type, "disabled"])),
  };
  const wanted = registrations.filter((registered) => reasonsToInstall(registered, cluster).length > 0);
  return new Set(wanted.map(({ name }) => name));
}

/** The kinds and types that the Shoot needs and that no registration is in charge of; also Extensions that it asks for by name. */
export function unofferedPairs(demand: Demand, registrations: readonly Registered[]): readonly Pair[] {
  const offers = registrations.flatMap((registered) => registered.offers);
  const offered = new Set(offers.filter(({ primary }) => primary).map(needed));
  const extensions = (demand.shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true);
  const pairs = [...neededPairs(demand), ...extensions.map(({ type }) => ({ kind: "Extension", type }))];
  const unoffered = new Map(pairs.filter((pair) => !offered.has(needed(pair))).map((pair) => [needed(pair), pair]));
  return [...unoffered.values()];
}

import { isNetwork, overlaps } from "../schema/cidr.ts";
import type { Seed } from "../core/seed.ts";
import type { Condition } from "../schema/meta.ts";
import { SILENT_WORKER } from "../shoot/health.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** Something that stands against a Shoot on a Seed: the field that says so, what is wrong, and what to do about it. */
export interface Obstacle {
  readonly field: string;
  readonly message: string;
  /** It may pass by itself: worth another look later. */
  readonly transient?: boolean;
}

/** How long, in ms, a Seed counts as ready after its worker's last heartbeat, which comes every 30 s. */
const HEARTBEAT_GRACE = 120_000;

/** Whether the Seed's worker says that it is ready, and said so a short time ago. */
export function isSeedReady(seed: Seed, now: Date): boolean {
  return (timeToSilence(seed, now) ?? -1) >= 0;
}

/** In how many ms the Seed counts as silent, should its worker not be heard of; undefined unless it is said to be ready. */
export function timeToSilence(seed: Seed, now: Date): number | undefined {
  const condition = readiness(seed);
  if (condition?.status !== "True") return undefined;
  return isAhead(condition.lastUpdateTime, now)
    ? -1
    : Date.parse(condition.lastUpdateTime) + HEARTBEAT_GRACE - now.getTime();
}

/** Whether a worker wrote this time by a clock that is wrong: as it comes no nearer, its silence would never be noticed. */
const isAhead = (time: string, now: Date): boolean => Date.parse(time) - now.getTime() > MOST_AHEAD;

/** In ms. */
const MOST_AHEAD = 300_000;

/** For how many ms the Seed's worker has not been heard of; undefined unless it counts as silent. */
export function silenceOf(seed: Seed, now: Date): number | undefined {
  const condition = readiness(seed);
  if (condition?.status !== silence.status) return undefined;
  // Where its own clock is ahead, since it was called silent.
  const times = [condition.lastUpdateTime, condition.lastTransitionTime].filter((time) => !isAhead(time, now));
  return times.length === 0 ? Infinity : now.getTime() - Math.min(...times.map((time) => Date.parse(time)));
}

/** The Seed's conditions once its worker is silent: whether it is ready is unknown, and when it was heard of stays. */
export function silentConditions({ status }: Seed, now: string): Condition[] {
  const calledSilent = (condition: Condition): Condition => {
    const message = isAhead(condition.lastUpdateTime, new Date(now)) ? aheadOf(condition) : silence.message;
    return { ...condition, ...silence, message, lastTransitionTime: now };
  };
  return (status?.conditions ?? []).map((condition) =>
    condition.type === READY ? calledSilent(condition) : condition,
  );
}

const aheadOf = ({ lastUpdateTime }: Condition): string =>
  `the clock of its worker is more than 5 minutes ahead: it reported at ${lastUpdateTime}; set that clock`;

/** Upstream's reason, by which its dashboards know a silent Seed. */
const silence = { status: "Unknown", reason: "SeedStatusUnknown", message: SILENT_WORKER } as const;

const READY = "GardenletReady";

/** What is known of a Seed's worker, as the end of a sentence. */
export function describeHeartbeat(seed: Seed, now: Date): string {
  const condition = readiness(seed);
  if (condition === undefined) return "its worker was never heard of";
  if (isAhead(condition.lastUpdateTime, now)) return aheadOf(condition);
  const seconds = Math.round((now.getTime() - Date.parse(condition.lastUpdateTime)) / 1000);
  const heard = `its worker was last heard of ${seconds} s ago`;
  return condition.status === "False" ? `${heard} and says: ${condition.message}` : heard;
}

/** Says that a Seed need not be taken over from. */
export function describeNeedlessness(seed: Seed, now: Date): string {
  return `Seed ${seed.metadata.name} answers (${describeHeartbeat(seed, now)}): a planned migration would lose nothing, a takeover loses what etcd wrote since its last snapshot.`;
}

/**
 * Says that what the Seed's backups go into is not ready, where its worker says anything of that (condition
 * BackupBucketsReady). A caller that can wait for it asks only for what is broken.
 */
export function bucketObstacles(seed: Seed, field: string, which: "not ready" | "broken" = "not ready"): Obstacle[] {
  const condition = seed.status?.conditions?.find(({ type }) => type === "BackupBucketsReady");
  if (seed.spec.backup === undefined || condition === undefined || condition.status === "True") return [];
  if (which === "broken" && condition.status !== "False") return [];
  const { name } = seed.metadata;
  const remedy = "mend it (kubectl get backupbuckets), or choose another Seed";
  const message = `Seed ${name} cannot keep backups now (BackupBucketsReady is ${condition.status}): ${condition.message}; ${remedy}`;
  return [{ field, message, transient: true }];
}

/** The taints of a Seed that the Shoot does not tolerate. */
export function taintObstacles({ spec }: Pick<Shoot, "spec">, seed: Seed): Obstacle[] {
  const tolerated = (key: string, value: string | undefined) =>
    spec.tolerations?.some((one) => one.key === key && (one.value === undefined || one.value === value)) ?? false;
  const taints = (seed.spec.taints ?? []).filter(({ key, value }) => !tolerated(key, value));
  return taints.map(({ key }) => ({
    field: "spec.seedName",
    message: `Seed ${seed.metadata.name} has taint ${key}: add it to spec.tolerations or choose another Seed`,
  }));
}

/** Networks of the Shoot that share addresses with the Seed's: where both are routed they could not be told apart. */
export function networkObstacles({ spec }: Pick<Shoot, "spec">, seed: Seed): Obstacle[] {
  const taken = networksOf(seed.spec.networks);
  return networksOf(spec.networking).flatMap(({ field, cidr }) =>
    taken
      .filter((other) => overlaps(cidr, other.cidr))
      .map((other) => ({
        field: `spec.networking.${field}`,
        message: `${cidr} overlaps with ${other.cidr} of Seed ${seed.metadata.name} (spec.networks.${other.field}): choose another network or Seed`,
      })),
  );
}

function readiness({ status }: Seed) {
  return status?.conditions?.find(({ type }) => type === READY);
}

function networksOf(networks: Partial<Record<"pods" | "services" | "nodes", string | undefined>> = {}) {
  return (["pods", "services", "nodes"] as const).flatMap((field) => {
    const cidr = networks[field];
    return cidr !== undefined && isNetwork(cidr) ? [{ field, cidr }] : [];
  });
}

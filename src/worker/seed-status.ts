import type { PublicStateKey } from "../api/core/state-key.ts";
import { silenceOf } from "../api/placement/fit.ts";
import { BackupBucket, Seed, type Condition } from "../api/index.ts";
import { isConflict, now, refTo, setCondition, unlessForbidden, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { bucketCondition } from "./backup/seed-bucket.ts";

/** Both clusters, each under the seed's own rights; `period` is ms. */
export interface SeedStatusDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  /** For which data keys are wrapped, of Shoots that come to this seed. */
  readonly stateKey: PublicStateKey | undefined;
  /** How many Shoots the seed takes; it says nothing of that where it is undefined. */
  readonly capacity?: number | undefined;
  readonly log: Logger;
  readonly period?: number;
  /**
   * Called when the garden has called this seed silent, with each heartbeat for two minutes: for as long as it may still be
   * writing its doubts about the Shoots.
   */
  readonly onReturn?: () => void;
}

/**
 * Tells the garden that this seed is served, and whether it can keep backups: upstream's conditions GardenletReady and
 * BackupBucketsReady, its version, what spec was seen, how many Shoots it takes, and the public key for which Shoots' data keys
 * are wrapped.
 */
export function createSeedStatus({ period = 30_000, onReturn = () => {}, ...deps }: SeedStatusDeps) {
  const { gardenClient, seedClient, seedName, stateKey, capacity, log } = deps;
  const shoots = { shoots: String(capacity) }; // is merged: other resources are for others to say
  const room = capacity === undefined ? {} : { capacity: shoots, allocatable: shoots };
  const ref = refTo(Seed, { name: seedName });

  let doubtedUntil = -Infinity;

  /** Says whether all is said: there is a Seed to tell of, and its bucket is not being made or mended. */
  const write = async (): Promise<boolean> => {
    const object = await gardenClient.read(ref).catch(unlessForbidden);
    if (object === undefined) return false;
    const { uid = "", generation, resourceVersion } = object.metadata;
    const bucket = await gardenClient.read(BackupBucket, { name: uid });
    const { gitVersion } = (await seedClient.get("/version")) as { gitVersion?: string };
    const backup = bucketCondition(object, bucket);
    const others = (object.status?.conditions ?? []).filter(
      ({ type }) => type !== "GardenletReady" && (backup !== undefined || type !== "BackupBucketsReady"),
    );
    const before = object.status?.conditions?.find(({ type }) => type === "GardenletReady");
    const conditions = [...(backup === undefined ? others : setCondition(others, backup)), ready(before)];
    const status = { observedGeneration: generation, kubernetesVersion: gitVersion, conditions, stateKey, ...room };
    // A list is replaced as a whole: the conditions of other writers must not be lost.
    await gardenClient.patch(ref, { metadata: { resourceVersion }, status }, { subresource: "status" });
    if (silenceOf(object, new Date()) !== undefined) doubtedUntil = performance.now() + DOUBT;
    if (performance.now() < doubtedUntil) onReturn();
    return backup === undefined || backup.status === "True";
  };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const tell = async () => {
    const settled = await write().catch((error: unknown) => {
      if (!isConflict(error)) log.warn({ err: error }, "cannot tell the garden about the seed");
      return false;
    });
    if (!stopped) timer = setTimeout(() => void tell(), settled ? period : Math.min(period, UNSETTLED_PERIOD));
  };

  return {
    start: () => void tell(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** In ms: a Seed may be registered, and its bucket made, after its worker has started, and Shoots wait for them. */
const UNSETTLED_PERIOD = 2_000;

/** In ms. */
const DOUBT = 120_000;

/** Its update time is the seed's heartbeat. */
function ready(before: Condition | undefined): Condition {
  const time = now();
  return {
    type: "GardenletReady",
    status: "True",
    reason: "GardenletReady",
    message: "The seed's worker is posting ready status.",
    lastTransitionTime: before?.status === "True" ? before.lastTransitionTime : time,
    lastUpdateTime: time,
  };
}

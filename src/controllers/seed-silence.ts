import { Seed, Shoot, type Condition } from "../api/index.ts";
import { silenceOf, silentConditions, timeToSilence } from "../api/placement/fit.ts";
import { doubted, isCaredFor } from "../api/shoot/health.ts";
import {
  briefConditions,
  createObjectController,
  defineKind,
  isConflict,
  isNotFound,
  now,
  refOf,
  typeMeta,
  type KubeClient,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { omitUndefined } from "../omit-undefined.ts";

/** The garden, whose Seeds are watched. */
export interface SeedSilenceDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  /** For how long, in ms, a Seed is silent before its Shoots are in doubt; five minutes unless told otherwise. */
  readonly longestSilence?: number;
}

/**
 * Says of a Seed whose worker is not heard of any more that it is unknown whether it is ready, and after some minutes the same
 * of the health of its Shoots: the worker cannot, and `kubectl get` would call them ready for good. The worker takes both back
 * (Gardener: the Seed lifecycle controller).
 */
export function createSeedSilenceController({ gardenClient, log, longestSilence = LONGEST_SILENCE }: SeedSilenceDeps) {
  /** Says it of the Seed; nothing where a heartbeat has come meanwhile, which makes it a conflict. */
  const callSilent = async ({ metadata: { name } }: Seed) => {
    const seed = await gardenClient.read(Seed, { name });
    if (seed === undefined || (timeToSilence(seed, new Date()) ?? 0) >= 0) return;
    const { resourceVersion } = seed.metadata;
    const status = { conditions: silentConditions(seed, now()) };
    await gardenClient.patch(refOf(seed), { metadata: { resourceVersion }, status }, { subresource: "status" });
    log.warn({ seed: name }, "Seed is silent");
  };

  /** Says it of a Shoot as it was listed, while its Seed is silent. */
  const doubt = async (shoot: CaredShoot, { metadata: { name } }: Seed) => {
    const changes = doubtsOf(shoot);
    const seed = changes === undefined ? undefined : await gardenClient.read(Seed, { name });
    if (seed === undefined || silenceOf(seed, new Date()) === undefined) return;
    const { resourceVersion } = shoot.metadata;
    await gardenClient
      .patch(refOf(shoot), { metadata: { resourceVersion }, status: changes }, { subresource: "status" })
      .catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error; // the next time, it is listed as it is then
      });
  };

  return createObjectController({
    name: "seed-silence",
    client: gardenClient,
    kind: Seed,
    keep: knownSeed,
    log,
    async reconcile(seed) {
      const left = timeToSilence(seed, new Date());
      if (left !== undefined && left >= 0) return { requeueAfter: left + 1 };
      if (left !== undefined) return void (await callSilent(seed));
      const silence = silenceOf(seed, new Date());
      if (silence === undefined) return undefined;
      if (silence < longestSilence) return { requeueAfter: longestSilence - silence + 1 };
      const { name } = seed.metadata;
      const shoots = await gardenClient.list(CaredShoot, { keep: essential });
      for (const { metadata, certainBy } of shoots) {
        const { namespace = "" } = metadata;
        const shoot =
          certainBy === name ? await gardenClient.read(CaredShoot, { name: metadata.name, namespace }) : undefined;
        if (shoot !== undefined) await doubt(shoot, seed);
      }
      return { requeueAfter: AGAIN };
    },
  });
}

/** In ms; upstream's gardener-controller-manager waits 200 s unless told otherwise. */
const LONGEST_SILENCE = 300_000;

/** In ms: how soon the Shoots of a silent Seed are looked at again: an operation that has ended has conditions. */
const AGAIN = 300_000;

type Status = NonNullable<Shoot["status"]>;

interface CaredShoot extends Pick<Shoot, "apiVersion" | "kind" | "metadata"> {
  readonly status?: Pick<Status, "seedName" | "lastOperation" | "conditions" | "constraints">;
  /** Of one that is listed: the Seed that says how it is, in words that are not in doubt yet. */
  readonly certainBy?: string | undefined;
  readonly [field: string]: unknown;
}

/** Shoots, of which this is all that is looked at: a garden has thousands, and their seeds may write anything into their conditions. */
const CaredShoot = defineKind<CaredShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

function essential(shoot: CaredShoot): CaredShoot {
  const { apiVersion, kind, metadata, status } = shoot;
  const { name, namespace } = metadata;
  const certainBy = doubtsOf(shoot) === undefined ? undefined : status?.seedName;
  return { apiVersion, kind, metadata: { name, namespace }, ...omitUndefined({ certainBy }) };
}

/** A Seed with no more of its status than the condition by which it is silent. */
const knownSeed = ({ status, ...seed }: Seed): Seed => ({
  ...seed,
  status: { conditions: briefConditions(status?.conditions, ["GardenletReady"]) },
});

/** What is to be written into the Shoot's status; undefined where it says so already. */
function doubtsOf({ status = {} }: CaredShoot): Pick<Status, "conditions" | "constraints"> | undefined {
  if (!isCaredFor({ status })) return undefined;
  const at = now();
  const doubtsAbout = (before: readonly Condition[] = []) => {
    const after = doubted(before, at);
    return after.some((condition, index) => condition !== before[index]) ? after : undefined;
  };
  const [conditions, constraints] = [doubtsAbout(status.conditions), doubtsAbout(status.constraints)];
  return conditions === undefined && constraints === undefined ? undefined : omitUndefined({ conditions, constraints });
}

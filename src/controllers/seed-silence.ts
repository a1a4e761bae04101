import { Seed } from "../api/index.ts";
import { silentConditions, timeToSilence } from "../api/placement/fit.ts";
import { createObjectController, now, refOf, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden, whose Seeds are watched. */
export interface SeedSilenceDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
}

/**
 * Says of a Seed whose worker is not heard of any more that it is unknown whether it is ready: the worker cannot, and `kubectl
 * get seeds` would call it ready for good. A heartbeat takes that back.
 */
export function createSeedSilenceController({ gardenClient, log }: SeedSilenceDeps) {
  return createObjectController({
    name: "seed-silence",
    client: gardenClient,
    kind: Seed,
    log,
    async reconcile(seed) {
      const left = timeToSilence(seed, new Date());
      if (left === undefined) return undefined;
      if (left >= 0) return { requeueAfter: left + 1 };
      const { name, resourceVersion } = seed.metadata; // a heartbeat that has come meanwhile is a conflict
      const status = { conditions: silentConditions(seed, now()) };
      await gardenClient.patch(refOf(seed), { metadata: { resourceVersion }, status }, { subresource: "status" });
      log.warn({ seed: name }, "Seed is silent");
      return undefined;
    },
  });
}

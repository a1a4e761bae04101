import { Seed } from "../api/index.ts";
import { silentConditions, timeToSilence } from "../api/placement/fit.ts";
import { createController, createReflector, now, refOf, type KubeClient } from "../kube/index.ts";
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
  const controller = createController({
    name: "seed-silence",
    log,
    async reconcile({ name }) {
      const seed = reflector.get(name);
      const left = seed && timeToSilence(seed, new Date());
      if (seed === undefined || left === undefined) return undefined;
      if (left >= 0) return { requeueAfter: left + 1 };
      const { resourceVersion } = seed.metadata; // a heartbeat that has come meanwhile is a conflict
      const status = { conditions: silentConditions(seed, now()) };
      await gardenClient.patch(refOf(seed), { metadata: { resourceVersion }, status }, { subresource: "status" });
      log.warn({ seed: name }, "Seed is silent");
      return undefined;
    },
  });
  const reflector = createReflector(gardenClient, Seed, {
    log,
    onEvent: ({ type, object: { metadata } }) => {
      if (type !== "deleted") controller.enqueue({ name: metadata.name });
    },
  });

  return {
    start() {
      reflector.start();
      controller.start();
    },
    async stop(): Promise<void> {
      await reflector.stop();
      await controller.stop();
    },
  };
}

import { keepSeedResourceManager } from "../activities/managed-resources/seed-resource-manager.ts";
import { SEED_NAMESPACE } from "../components/index.ts";
import { createController, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The seed; `period` is ms, an hour unless told otherwise. */
export interface SeedResourceManagerDeps {
  readonly seedClient: KubeClient;
  readonly log: Logger;
  readonly period?: number;
  readonly now?: () => Date;
}

/** Looks after the seed's own resource manager, whether or not anything is installed meanwhile. */
export function createSeedResourceManagerCare({
  seedClient,
  log,
  period = 3_600_000,
  now = () => new Date(),
}: SeedResourceManagerDeps) {
  const controller = createController({
    name: "seed-resource-manager",
    log,
    async reconcile() {
      await keepSeedResourceManager(seedClient, now());
      return { requeueAfter: period };
    },
  });
  return {
    start() {
      controller.start();
      controller.enqueue({ name: SEED_NAMESPACE });
    },
    stop: () => controller.stop(),
  };
}

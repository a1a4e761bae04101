import { BackupBucket, Seed } from "../../api/index.ts";
import { REGISTRATION_FINALIZER } from "../../api/names.ts";
import { createController, holdObject, refTo, releaseObject, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The garden, and how many controllers are installed on a Seed. */
export interface SeedHoldDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly installedOn: (seed: string) => number;
}

/**
 * Keeps a Seed from going before what is installed on it has been taken away. The bucket of one that is to go is deleted: its
 * provider is needed until then (Gardener: the controllers of ControllerRegistrations and Seeds).
 */
export function createSeedHold({ gardenClient, log, installedOn }: SeedHoldDeps) {
  return createController({
    name: "seed-hold",
    log,
    async reconcile({ name }) {
      const ref = refTo(Seed, { name });
      const seed = await gardenClient.read(ref);
      if (seed === undefined) return;
      const { deletionTimestamp, uid } = seed.metadata;
      const isInstalled = installedOn(name) > 0;
      if (deletionTimestamp === undefined) {
        if (isInstalled) await holdObject(gardenClient, ref, REGISTRATION_FINALIZER);
        return;
      }
      if (!isInstalled) return await releaseObject(gardenClient, ref, REGISTRATION_FINALIZER);
      if (uid !== undefined) await gardenClient.remove(refTo(BackupBucket, { name: uid }));
    },
  });
}

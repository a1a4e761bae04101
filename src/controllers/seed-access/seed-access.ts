import { createController, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createGranted } from "./granted.ts";
import { grantsOf } from "./grants.ts";
import { accessObjects } from "./objects.ts";
import { createWorld } from "./world.ts";

/** The garden, under rights that include all those that are given away: RBAC asks for that. */
export interface SeedAccessDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
}

/**
 * Gives each seed's identity, the service account of the Seed's name in namespace `perennial-seeds`, the rights in the
 * garden that its Shoots need, and takes them away when the Shoots go: roles that name the objects.
 */
export function createSeedAccessController({ gardenClient, log }: SeedAccessDeps) {
  const onChange = (id: string) => controller.enqueue({ name: id });
  const { world, ...watches } = createWorld({ gardenClient, log, onChange });
  const granted = createGranted({ gardenClient, log, onChange });
  const controller = createController({
    name: "seed-access",
    log,
    reconcile: ({ name: id }) => granted.replace(id, accessObjects(id, grantsOf(world, id))),
  });
  const parts = [watches, granted];

  return {
    /** Rights are taken away only when all is known that they are for. */
    start() {
      for (const part of parts) part.start();
      const synced = Promise.all(parts.map((part) => part.synced()));
      void synced.then(controller.start, (error: unknown) =>
        log.debug({ err: error }, "stopped before the first list"),
      );
    },
    async stop(): Promise<void> {
      await Promise.all(parts.map((part) => part.stop()));
      await controller.stop();
    },
  };
}

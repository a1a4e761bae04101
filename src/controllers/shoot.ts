import { FORCE_TAKEOVER_ANNOTATION, OPERATION_ANNOTATION, Shoot } from "../api/index.ts";
import type { ShootRef } from "../api/shoot/run.ts";
import type { ShootClient } from "../client/shoots.ts";
import { createController, createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden that is watched, and the workflows that are told; `sweepPeriod` is ms, ten minutes unless told otherwise. */
export interface ShootControllerDeps {
  readonly gardenClient: KubeClient;
  readonly shoots: Pick<ShootClient, "nudge">;
  readonly log: Logger;
  readonly sweepPeriod?: number;
}

/**
 * Tells each Shoot's workflow that something changed. Edges come from the watch; a sweep over all Shoots makes up for
 * every edge that got lost. Changes of the status are our own writes and are left out.
 */
export function createShootController({ gardenClient, shoots, log, sweepPeriod = 600_000 }: ShootControllerDeps) {
  const reflector = createReflector(gardenClient, Shoot, {
    log,
    onEvent: ({ type, object, old }) => {
      if (type === "deleted" || (old && asks(old) === asks(object))) return;
      controller.enqueue(keyOf(object));
    },
  });
  const controller = createController({
    name: "shoot",
    log,
    concurrency: 8,
    async reconcile({ name, namespace }) {
      const shoot = reflector.get(name, namespace);
      if (shoot) await shoots.nudge(refOf(shoot));
    },
  });
  let sweep: NodeJS.Timeout | undefined;

  return {
    start() {
      controller.start();
      reflector.start();
      sweep = setInterval(() => reflector.list().forEach((shoot) => controller.enqueue(keyOf(shoot))), sweepPeriod);
    },
    synced: () => reflector.synced(),
    async stop() {
      clearInterval(sweep);
      await reflector.stop();
      await controller.stop();
    },
  };
}

/** Everything about a Shoot that asks for something: its spec, its deletion, a request, an approval to take it over. */
const asks = ({ metadata: { uid, generation, deletionTimestamp, annotations } }: Shoot): string =>
  [
    uid,
    generation,
    deletionTimestamp,
    annotations?.[OPERATION_ANNOTATION],
    annotations?.[FORCE_TAKEOVER_ANNOTATION],
  ].join("|");

const keyOf = ({ metadata }: Shoot) => ({ name: metadata.name, namespace: metadata.namespace });

const refOf = ({ metadata }: Shoot): ShootRef => ({
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid ?? "",
});

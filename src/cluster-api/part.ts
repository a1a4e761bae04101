import type { EventRecorder, KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Watches } from "./watches.ts";

/** What controllers and webhooks of this process work with. */
export interface ClusterApiDeps {
  /** The cluster with Cluster API's objects. */
  readonly management: KubeClient;
  /** The garden, with Shoots; it may be the same cluster. */
  readonly garden: KubeClient;
  /** Writes Events about objects of the management cluster. */
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Whether a Cluster that has an endpoint and no ClusterEndpoint gets one; it does unless told otherwise. */
  readonly generatesEndpoints?: boolean;
  /** What parts of one term watch together; a part that is given none watches by itself. */
  readonly watches?: Watches;
}

/** What runs in the leader for one term: what has been stopped is not started again. */
export interface Part {
  start(): void;
  /** Resolves when what ran has ended. */
  stop(): Promise<void>;
}

/** What a part goes by, as its watches know it. */
export interface Known {
  start(): void;
  /** Resolves when all that exists is known; rejects when the watches were stopped before. */
  synced(): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * A part whose workers start once its watches know all that exists: before, an object that was not seen yet could be taken for one that
 * is not there.
 */
export function startWhenSynced(known: Known, workers: readonly Part[], log: Logger): Part {
  return {
    start() {
      known.start();
      known.synced().then(
        () => workers.forEach((worker) => worker.start()),
        () => log.info("stopped before the first lists"),
      );
    },
    async stop() {
      await known.stop();
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}

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

import type { Image } from "../../src/local/image/build.ts";
import type { Logger } from "../../src/log.ts";

/** What a cluster for the suite is made with. */
export interface Ground {
  /** The images that its nodes get. */
  readonly archive: Image;
  /** For kubeconfigs and reports. */
  readonly folder: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly tell: (message: string) => void;
}

/** What is done on a cluster, given the path of its administrator's kubeconfig. */
export type ClusterWork<T> = (kubeconfig: string) => Promise<T>;

import type { EventRecorder, KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Actuator } from "./actuator.ts";
import type { ExtensionKind, ExtensionKinds } from "../api/extensions/kinds.ts";
import type { ClusterFor, ExtensionClass } from "./extension-object.ts";
import type { Guard } from "./guard.ts";
import type { ControllerObserver } from "./metrics.ts";
import type { RateLimit } from "./token-bucket.ts";

/** Who handles which objects, and how. */
export interface ExtensionControllerOptions<K extends ExtensionKind> {
  /** The seed's API server. */
  readonly client: KubeClient;
  readonly kind: K;
  /** Only objects with this `spec.type` are handled. */
  readonly type: string;
  /** Only objects of this class, or of one of these, are handled: `shoot` unless told otherwise, and so is an object without one. */
  readonly class?: ExtensionClass | readonly ExtensionClass[];
  readonly actuator: Actuator<ExtensionKinds[K], ClusterFor<K>>;
  readonly log: Logger;
  /** How many objects are worked on at once; 5 unless told otherwise. */
  readonly concurrency?: number;
  /** Asked before every operation; everything is allowed unless told otherwise. */
  readonly guard?: Guard;
  /** How many operations may begin, over all objects; as many as there are slots unless told otherwise. */
  readonly rateLimit?: RateLimit;
  /** Told of every operation that ends, and of the queue. */
  readonly metrics?: ControllerObserver;
  /** Writes an Event for the end of each operation; none unless given. */
  readonly events?: EventRecorder;
}

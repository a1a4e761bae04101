import type { Cluster, KubeObject, OperationType } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/**
 * What an extension author implements: one provider's handling of one kind.
 *
 * Every method must be idempotent (it is called again after a crash at any point, and on every trigger), must bring the
 * world to the wanted state before it resolves, must throw when it could not (an ExtensionError says why, by code), and
 * must stop soon after `context.signal` aborts. It is never called twice at once for one object.
 */
export interface Actuator<T extends KubeObject, C extends Cluster | undefined = Cluster> {
  /** Creates or updates what the object asks for; it resolves only when that exists and works. */
  reconcile(object: T, cluster: C, context: ActuatorContext): Promise<ActuatorResult | void>;

  /** Removes everything that belongs to the object and resolves when it is gone; nothing there is success. */
  delete(object: T, cluster: C, context: ActuatorContext): Promise<void>;

  /** Stops acting for the object in this seed, leaves what it made outside the seed alone and keeps `status.state` complete. */
  migrate(object: T, cluster: C, context: ActuatorContext): Promise<void>;

  /** Takes over, in another seed, what `status.state` describes, without making any of it a second time; then as reconcile. */
  restore(object: T, cluster: C, context: ActuatorContext): Promise<ActuatorResult | void>;

  /** As delete, but what can't be removed is left behind (`confirmation.gardener.cloud/force-deletion` on the Shoot). */
  forceDelete?(object: T, cluster: C, context: ActuatorContext): Promise<void>;
}

/** What the framework hands to every call of an actuator. */
export interface ActuatorContext {
  /** Carries the object's kind, namespace and name and the operation's type. */
  readonly log: Logger;
  /** Aborts when the process stops, or when the operation may no longer go on: hand it to every call that takes one. */
  readonly signal: AbortSignal;
  /** Throws when the operation may no longer go on, by the clock: call it right before each call that changes the world. */
  check(): void;
  /** The cluster that the object lives in: the seed. It looks at `check` before every call. */
  readonly client: KubeClient;
  readonly operation: OperationType;
  /** Whether an earlier attempt at this operation was cut off, by the end of its process, before it could report its end. */
  readonly resumed: boolean;
  /** Writes status fields while the operation runs, such as `state` as soon as something exists that must not be forgotten. */
  saveStatus(fields: ActuatorStatus): Promise<void>;
}

/** What an actuator reports when it succeeded; written to the status together with the success. */
export interface ActuatorResult extends ActuatorStatus {
  /** Run again after this many milliseconds although nothing triggers it. */
  readonly requeueAfter?: number;
}

/** Status fields that belong to the actuator. A field that is given replaces the old value as a whole. */
export interface ActuatorStatus {
  /** `status.providerStatus`: for the provider's other actuators. */
  readonly providerStatus?: unknown;
  /** `status.state`: all that restore needs in another seed; never a secret in the clear that isn't needed there. */
  readonly state?: unknown;
  /** Fields of the kind itself, such as `nodesCIDR` or `cloudConfig`. */
  readonly status?: Readonly<Record<string, unknown>>;
}

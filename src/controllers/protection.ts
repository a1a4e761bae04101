import { GARDENER_FINALIZER } from "../api/index.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import {
  createObjectController,
  holdObject,
  inBrief,
  inWords,
  refOf,
  refTo,
  releaseObject,
  Secret,
  type EventRecorder,
  type Kind,
  type KubeClient,
  type NamespacedKey,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden; `period` is ms, half a minute unless told otherwise. */
export interface ProtectionDeps {
  readonly gardenClient: KubeClient;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Logger;
  /** How often it is looked again whether an object that is to be deleted is still needed. */
  readonly period?: number;
}

/** A kind of which no object goes as long as it is needed. */
export interface Protection<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** What needs the object, as the API server knows it: Shoots mostly. */
  users(client: KubeClient, object: T): Promise<KubeObject[]>;
  /** What has to be remembered of an object; all of it but most of its metadata unless told otherwise. */
  readonly keep?: (object: T) => T;
  /** The Secret that stays as long as one of the objects names it, under a finalizer of the kind. */
  readonly secret?: { readonly finalizer: string; of(object: T): NamespacedKey | undefined };
}

/**
 * Gives each object of a kind the finalizer `gardener`, as upstream does, and takes it away when the object is to be deleted
 * and nothing needs it any more. Its Secret is let go before it, so that none is forgotten when a process dies in between.
 */
export function createProtection<T extends KubeObject>(
  { kind, users, keep = (object) => inBrief(object), secret }: Protection<T>,
  { gardenClient, events, log, period = 30_000 }: ProtectionDeps,
) {
  const hold = async (object: T) => {
    await holdObject(gardenClient, refOf(object), GARDENER_FINALIZER);
    const key = secret?.of(object);
    if (secret === undefined || key === undefined) return undefined;
    return (await holdObject(gardenClient, refTo(Secret, key), secret.finalizer))
      ? undefined
      : { requeueAfter: period };
  };

  const release = async (object: T) => {
    const needed = await users(gardenClient, object);
    if (needed.length > 0) {
      const note = `It cannot be deleted yet: it is needed by ${needed.slice(0, 10).map(nameOf).join(", ")}`;
      const why = { type: "Warning", reason: "ResourceReferenced", action: "Delete" } as const;
      events.record({ regarding: object, ...why, note });
      return { requeueAfter: period };
    }
    await releaseSecret(object);
    return await releaseObject(gardenClient, refOf(object), GARDENER_FINALIZER);
  };

  /** As it is remembered, with the finalizer by which it is held. */
  const withHold = (object: T): T => {
    const finalizers = (object.metadata.finalizers ?? []).filter((one) => one === GARDENER_FINALIZER);
    const kept = keep(object);
    return { ...kept, metadata: { ...kept.metadata, finalizers } };
  };

  const releaseSecret = async (object: T) => {
    const key = secret?.of(object);
    if (secret === undefined || key === undefined) return;
    const all = await gardenClient.list(kind, { keep: withHold });
    const others = all.filter((one) => one.metadata.uid !== object.metadata.uid && isSame(secret.of(one), key));
    if (!others.some(isStaying)) await releaseObject(gardenClient, refTo(Secret, key), secret.finalizer);
  };

  return createObjectController({
    name: `${kind.kind.toLowerCase()}-protection`,
    client: gardenClient,
    kind,
    keep,
    log,
    concurrency: 1, // or one object would let a Secret go that another has just begun to hold
    reconcile: (object) => (isDeleted(object) ? release(object) : hold(object)),
  });
}

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether the object is not let go yet: one that is to be deleted is held as long as something needs it. */
const isStaying = (object: KubeObject): boolean =>
  !isDeleted(object) || object.metadata.finalizers?.includes(GARDENER_FINALIZER) === true;

const isSame = (one: NamespacedKey | undefined, other: NamespacedKey): boolean =>
  one?.namespace === other.namespace && one.name === other.name;

const nameOf = (user: KubeObject): string => inWords(refOf(user));

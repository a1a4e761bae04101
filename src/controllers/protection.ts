import { GARDENER_FINALIZER } from "../api/index.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import {
  createObjectController,
  createReflector,
  holdObject,
  inBrief,
  indexBy,
  inWords,
  refOf,
  refTo,
  releaseObject,
  Secret,
  type EventRecorder,
  type Kind,
  type KubeClient,
  type NamespacedKey,
  type Reflector,
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
    const { uid = "" } = object.metadata;
    released.add(uid);
    await releaseObject(gardenClient, refOf(object), GARDENER_FINALIZER).catch((error: unknown) => {
      released.delete(uid);
      throw error;
    });
    return undefined;
  };

  /** As it is remembered, with the finalizer by which it is held. */
  const withHold = (object: T): T => {
    const finalizers = (object.metadata.finalizers ?? []).filter((one) => one === GARDENER_FINALIZER);
    const kept = keep(object);
    return { ...kept, metadata: { ...kept.metadata, finalizers } };
  };

  const watch = createReflector(gardenClient, kind, { log, keep: withHold });
  /** Uids of objects that were let go, until the watch shows it: what they name may go with the next. */
  const released = new Set<string>();
  watch.listen(({ type, object }) => {
    if (type === "deleted" || !isHeld(object)) released.delete(object.metadata.uid ?? "");
  });
  const bySecret = indexBy(watch, (object) => wordOf(secret?.of(object)));

  const releaseSecret = async (object: T) => {
    const key = secret?.of(object);
    const word = wordOf(key);
    if (secret === undefined || key === undefined || word === undefined) return;
    await requireCurrent(watch, kind);
    const isOther = ({ metadata: { uid = "" } }: T) => uid !== object.metadata.uid && !released.has(uid);
    const others = bySecret(word).filter(isOther);
    if (!others.some(isStaying)) await releaseObject(gardenClient, refTo(Secret, key), secret.finalizer);
  };

  const controller = createObjectController({
    name: `${kind.kind.toLowerCase()}-protection`,
    client: gardenClient,
    kind,
    watch,
    log,
    concurrency: 1, // or one object would let a Secret go that another has just begun to hold
    reconcile: (object) => (isDeleted(object) ? release(object) : hold(object)),
  });
  return { ...controller, watch };
}

/** Throws while the objects of a watch may be out of date: one that is missing might need another. */
export async function requireCurrent<T extends KubeObject>(watch: Reflector<T>, { kind }: Kind<T>): Promise<void> {
  await watch.synced();
  if (!watch.isCurrent())
    throw new Error(
      `cannot judge by the ${kind}s what is still needed: their watch is interrupted, and is being resumed`,
    );
}

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether the object is not let go yet: one that is to be deleted is held as long as something needs it. */
const isStaying = (object: KubeObject): boolean => !isDeleted(object) || isHeld(object);

const isHeld = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(GARDENER_FINALIZER) === true;

/** By what objects are found that name the same one. */
export const wordOf = (key: NamespacedKey | undefined): string | undefined => key && `${key.namespace}/${key.name}`;

const nameOf = (user: KubeObject): string => inWords(refOf(user));

import type { Cluster } from "../api/index.ts";
import { createController, createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Actuator } from "./actuator.ts";
import { getCluster, hasShootFailed } from "./cluster.ts";
import {
  EXTENSIONS_API,
  finalizerOf,
  type ClusterFor,
  type ExtensionKind,
  type ExtensionKinds,
  type ExtensionObject,
} from "./extension-object.ts";
import { openGuard, type Guard } from "./guard.ts";
import { decideOperation } from "./operation.ts";
import { perform } from "./perform.ts";
import { isTrigger } from "./trigger.ts";

/** Who handles which objects, and how. */
export interface ExtensionControllerOptions<K extends ExtensionKind> {
  /** The seed's API server. */
  readonly client: KubeClient;
  readonly kind: K;
  /** Only objects with this `spec.type` are handled. */
  readonly type: string;
  /** Only objects of this class are handled; an object without one is of class `shoot`. */
  readonly class?: "garden" | "seed" | "shoot";
  readonly actuator: Actuator<ExtensionKinds[K], ClusterFor<K>>;
  readonly log: Logger;
  /** How many objects are worked on at once; 5 unless told otherwise. */
  readonly concurrency?: number;
  /** Asked before every operation; everything is allowed unless told otherwise. */
  readonly guard?: Guard;
}

/** A controller of one kind and type; it does nothing before `start`. */
export interface ExtensionController {
  start(): void;
  /** Resolves when every object that exists has been seen once. */
  synced(): Promise<void>;
  /** Aborts what runs and resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Runs an actuator by Gardener's extension contract: triggers, operation types, skips, finalizer, annotation and status,
 * one operation per object at a time, failed ones again with exponential backoff.
 */
export function createExtensionController<K extends ExtensionKind>(
  options: ExtensionControllerOptions<K>,
): ExtensionController {
  const { client, kind, type, concurrency = 5 } = options;
  const log = options.log.child({ kind, type });

  const queue = createController({
    name: `${kind.toLowerCase()}-${type}`,
    concurrency,
    log,
    reconcile: (key, { signal }) => reconcileObject({ ...options, log }, key, signal),
  });

  const reflector = createReflector<ExtensionObject>(
    client,
    { apiVersion: EXTENSIONS_API, kind },
    {
      log,
      onEvent: (event) => {
        if (isHandled(event.object, options) && isTrigger(event)) queue.enqueue(keyOf(event.object));
      },
    },
  );

  return {
    start() {
      queue.start();
      reflector.start();
    },
    synced: () => reflector.synced(),
    async stop() {
      await Promise.all([queue.stop(), reflector.stop()]);
    },
  };
}

/** One look at one object: decides, asks the guard, performs. */
async function reconcileObject<K extends ExtensionKind>(
  options: ExtensionControllerOptions<K>,
  key: Key,
  stopping: AbortSignal,
): Promise<void | { requeueAfter: number }> {
  const { client, kind, actuator, guard = openGuard } = options;
  const object = await client.read<ExtensionObject>({ apiVersion: EXTENSIONS_API, kind, ...key });
  if (!object || !isHandled(object, options)) return;
  const log = options.log.child({ ...key });

  const cluster = await readCluster(client, object);
  const decision = decideOperation(object, { finalizer: finalizerOf(kind), shootFailed: hasShootFailed(cluster) });
  if ("skip" in decision) {
    log.debug({ reason: decision.skip }, "operation skipped");
    return decision.skip === "shoot failed" ? { requeueAfter: recheckFailedShoot } : undefined;
  }

  const operation = decision.run;
  const permit = await guard.enter({ object, cluster, type: operation });
  const operationLog = log.child({ operation });
  try {
    const signal = AbortSignal.any([stopping, permit.signal]);
    operationLog.info("operation started");
    const performance = { client, log: operationLog, kind, operation, signal };
    // The API server holds this kind's objects to its schema, and the kind decides whether there is a Cluster.
    const subject = { actuator, object: object as unknown as ExtensionKinds[K], cluster: cluster as ClusterFor<K> };
    const result = await perform({ ...performance, ...subject });
    operationLog.info("operation done");
    return result?.requeueAfter === undefined ? undefined : { requeueAfter: result.requeueAfter };
  } finally {
    permit.release();
  }
}

/** A Shoot that is taken up again triggers its objects itself; this is for a trigger that came while it still counted as failed. */
const recheckFailedShoot = 60_000;

interface Key {
  readonly name: string;
  readonly namespace?: string;
}

function keyOf({ metadata: { name, namespace } }: ExtensionObject): Key {
  return namespace === undefined ? { name } : { name, namespace };
}

function isHandled(object: ExtensionObject, o: { type: string; class?: string }): boolean {
  return object.spec.type === o.type && (object.spec.class ?? "shoot") === (o.class ?? "shoot");
}

/** Cluster-scoped objects and those of the garden namespace belong to no Shoot. */
async function readCluster(
  client: KubeClient,
  { metadata: { namespace } }: ExtensionObject,
): Promise<Cluster | undefined> {
  return namespace === undefined || namespace === "garden" ? undefined : await getCluster(client, namespace);
}

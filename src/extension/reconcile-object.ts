import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../api/index.ts";
import type { Key, KubeClient } from "../kube/index.ts";
import { checkedClient } from "./checked-client.ts";
import { getCluster, hasShootFailed } from "./cluster.ts";
import type { ExtensionControllerOptions } from "./controller-options.ts";
import { definitionOf, type ExtensionKind, type ExtensionKinds } from "../api/extensions/kinds.ts";
import { finalizerOf, isHandled, type ClusterFor, type ExtensionObject } from "./extension-object.ts";
import { openGuard } from "./guard.ts";
import { tellEnd } from "./outcome.ts";
import { decideOperation } from "./operation.ts";
import { perform } from "./perform.ts";
import type { Revisits } from "./revisits.ts";
import type { TokenBucket } from "./token-bucket.ts";

/** What the objects of one controller share. */
interface Surroundings {
  readonly revisits: Revisits;
  /** Gives a token for each operation that begins. */
  readonly bucket?: TokenBucket | undefined;
  readonly signal: AbortSignal;
}

/** One look at one object: decides, waits for its turn, asks the guard, performs. */
export async function reconcileObject<K extends ExtensionKind>(
  options: ExtensionControllerOptions<K> & Surroundings,
  key: Key,
): Promise<void | { requeueAfter: number }> {
  const { client, kind, actuator, revisits, guard = openGuard } = options;
  const object = await client.read(definitionOf(kind), key);
  if (!object || !isHandled(object, options)) return;
  const log = options.log.child({ namespace: key.namespace, object: key.name });

  const cluster = await readCluster(client, object);
  const circumstances = {
    finalizer: finalizerOf(kind),
    shootFailed: hasShootFailed(cluster),
    revisit: revisits.take(key),
  };
  const decision = decideOperation(object, circumstances);
  if ("skip" in decision) {
    log.debug({ reason: decision.skip }, "operation skipped");
    return decision.skip === "shoot failed" ? { requeueAfter: recheckFailedShoot } : undefined;
  }

  const wait = options.bucket?.take() ?? 0;
  if (wait > 0) {
    if (circumstances.revisit) revisits.plan(key, 0);
    await sleep(wait, undefined, { signal: options.signal });
    return await reconcileObject({ ...options, bucket: undefined }, key); // much may have changed meanwhile
  }

  const operation = decision.run;
  const permit = await guard.enter({ object, cluster, type: operation }).catch((refused: unknown) => {
    if (circumstances.revisit) revisits.plan(key, 0);
    throw refused;
  });
  const operationLog = log.child({ operation });
  try {
    const signal = AbortSignal.any([options.signal, permit.signal]);
    const check = () => {
      options.signal.throwIfAborted();
      permit.check();
    };
    operationLog.info("operation started");
    const clients = { client: checkedClient(client, check), lateClient: client };
    const task = { ...clients, log: operationLog, kind, operation, signal, check };
    // The API server holds this kind's objects to its schema, and the kind decides whether there is a Cluster.
    const subject = { actuator, object: object as unknown as ExtensionKinds[K], cluster: cluster as ClusterFor<K> };
    const result = await tellEnd(options, { object, operation, signal }, () => perform({ ...task, ...subject }));
    operationLog.info("operation done");
    if (result?.requeueAfter === undefined) return;
    revisits.plan(key, result.requeueAfter);
    return { requeueAfter: result.requeueAfter };
  } finally {
    permit.release();
  }
}

/** A Shoot that is taken up again triggers its objects itself; this is for a trigger that came while it still counted as failed. */
const recheckFailedShoot = 60_000;

/** Cluster-scoped objects, those of the garden namespace and those of another class than `shoot` belong to no Shoot. */
async function readCluster(
  client: KubeClient,
  { metadata: { namespace }, spec }: ExtensionObject,
): Promise<Cluster | undefined> {
  if (namespace === undefined || namespace === "garden" || (spec.class ?? "shoot") !== "shoot") return undefined;
  return await getCluster(client, namespace);
}

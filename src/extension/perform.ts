import { isDeepStrictEqual } from "node:util";
import type { Cluster, OperationType } from "../api/index.ts";
import { inWords, isConflict, refOf, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Actuator, ActuatorContext, ActuatorResult, ActuatorStatus } from "./actuator.ts";
import { needsForceDeletion } from "./cluster.ts";
import type { ExtensionKind } from "../api/extensions/kinds.ts";
import { OperationRefused } from "./errors.ts";
import { finalizerOf, type ExtensionObject } from "./extension-object.ts";
import { addFinalizer, removeAllFinalizers, removeFinalizer, removeOperationAnnotation } from "./metadata.ts";
import { requestedOperation } from "./operation.ts";
import {
  actuatorStatus,
  errorStatus,
  processingStatus,
  succeededStatus,
  writeStatus,
  type StatusPatch,
} from "./status.ts";
import { words } from "./words.ts";

/** One operation on one object: the actuator that carries it out, and the limits that it keeps. */
export interface Task<T extends ExtensionObject, C extends Cluster | undefined> {
  /** Throws instead of calling once the operation may not go on. */
  readonly client: KubeClient;
  /** The same without that check: for what the operation has made already, which has to be written down. */
  readonly lateClient: KubeClient;
  readonly log: Logger;
  readonly kind: ExtensionKind;
  readonly actuator: Actuator<T, C>;
  readonly object: T;
  readonly cluster: C;
  readonly operation: OperationType;
  /** Once it has aborted, nothing is written to the object any more. */
  readonly signal: AbortSignal;
  /** Throws when the operation may not go on. */
  readonly check: () => void;
}

/**
 * Runs one operation and keeps the object's finalizer, annotation and status in step with it, in Gardener's order.
 * Throws what the actuator threw, after writing it to the status.
 */
export async function perform<T extends ExtensionObject, C extends Cluster | undefined>(
  task: Task<T, C>,
): Promise<ActuatorResult | undefined> {
  const object = await begin(task);
  let latest: ExtensionObject = object;
  const save = async (made: ActuatorStatus) => void (latest = (await saveLate(task, object, made)) ?? latest);
  let result: ActuatorResult | undefined;
  try {
    result = (await act(task, object, save)) ?? undefined;
  } catch (error) {
    if (!task.signal.aborted) await reportError(task, object, error);
    throw error;
  }
  try {
    task.check();
  } catch (lost) {
    await save(result ?? {});
    throw lost;
  }
  await conclude(task, object, actuatorStatus(latest, result ?? {}));
  return result;
}

/**
 * Writes what an actuator has made into this very object, even when the leave to act is over: it is of this seed alone, and
 * the next leader gets it from there. What it says of the operation stays as it is. Once another replica has begun an
 * operation on the object, what this one has made comes too late: an OperationRefused.
 */
async function saveLate(
  { lateClient }: Task<ExtensionObject, Cluster | undefined>,
  object: ExtensionObject,
  made: ActuatorStatus,
): Promise<ExtensionObject | undefined> {
  for (;;) {
    const current = await lateClient.read(refOf(object));
    if (current === undefined || current.metadata.uid !== object.metadata.uid) return undefined;
    const status = actuatorStatus(current, made);
    if (Object.keys(status).length === 0) return current;
    if (!isDeepStrictEqual(current.status?.lastOperation, object.status?.lastOperation))
      throw new OperationRefused(`cannot save what was made for ${inWords(refOf(object))}: another process acts on it`);
    try {
      const { resourceVersion } = current.metadata;
      const patch = { metadata: { resourceVersion }, status };
      return await lateClient.patch(refOf(current), patch, { subresource: "status" });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** The finalizer comes before anything that it must protect; a reconcile is answered only once Processing says that it runs. */
async function begin<T extends ExtensionObject>(task: Task<T, Cluster | undefined>): Promise<T> {
  const { client, kind, operation } = task;
  let object: ExtensionObject = task.object;
  if (operation !== "Migrate" && operation !== "Delete") object = await addFinalizer(client, object, finalizerOf(kind));
  object = await writeStatus(
    client,
    object,
    processingStatus({ type: operation, description: `${words[operation].doing} ${kind}`, at: new Date() }),
  );
  if (requestedOperation(task.object) === "reconcile")
    object = await removeOperationAnnotation(client, object, task.object);
  return object as T;
}

function act<T extends ExtensionObject, C extends Cluster | undefined>(
  task: Task<T, C>,
  object: T,
  saveStatus: ActuatorContext["saveStatus"],
): Promise<ActuatorResult | void> {
  const { actuator, cluster, operation } = task;
  const { client, log, signal, check } = task;
  const context = { client, log, signal, check, operation, resumed: isResumed(task.object), saveStatus };
  if (operation === "Migrate") return actuator.migrate(object, cluster, context);
  if (operation === "Restore") return actuator.restore(object, cluster, context);
  if (operation !== "Delete") return actuator.reconcile(object, cluster, context);
  if (actuator.forceDelete && needsForceDeletion(cluster)) return actuator.forceDelete(object, cluster, context);
  return actuator.delete(object, cluster, context);
}

/** A request that came since is another operation; the annotations of the others stay until they are over. */
function isResumed(object: ExtensionObject): boolean {
  return object.status?.lastOperation?.state === "Processing" && requestedOperation(object) !== "reconcile";
}

async function conclude(task: Task<ExtensionObject, Cluster | undefined>, object: ExtensionObject, made: StatusPatch) {
  const { client, kind, operation } = task;
  if (operation === "Restore") await removeOperationAnnotation(client, object, task.object);
  const progress = { type: operation, description: `${words[operation].done} ${kind}`, at: new Date() };
  await writeStatus(client, object, { ...made, ...succeededStatus(object, progress) });
  if (operation === "Delete") await removeFinalizer(client, object, finalizerOf(kind));
  if (operation !== "Migrate") return;
  await removeAllFinalizers(client, object);
  await removeOperationAnnotation(client, object, task.object);
}

async function reportError(task: Task<ExtensionObject, Cluster | undefined>, object: ExtensionObject, error: unknown) {
  const { client, kind, operation } = task;
  try {
    const progress = { type: operation, description: `Error ${words[operation].inError} ${kind}`, at: new Date() };
    await writeStatus(client, object, errorStatus(object, progress, error));
  } catch (unwritten) {
    throw new AggregateError([error, unwritten], `cannot report the error of ${kind} ${object.metadata.name}`, {
      cause: unwritten,
    });
  }
}

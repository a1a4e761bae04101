import type { OperationType } from "../api/index.ts";
import { refOf, type KubeClient } from "../kube/index.ts";
import type { ActuatorStatus } from "./actuator.ts";
import { errorCodes, errorMessage } from "./errors.ts";
import type { ExtensionObject } from "./extension-object.ts";
import { mergePatch } from "./merge-patch.ts";

/** A change of `status`, as a merge patch. */
export type StatusPatch = Readonly<Record<string, unknown>>;

/** The status of an operation that begins: 1 %. The observed generation and an old error stay as they are. */
export function processingStatus(type: OperationType, description: string, now: Date): StatusPatch {
  return { lastOperation: lastOperation(type, "Processing", 1, description, now) };
}

/** The status of an operation that was done: 100 %, the generation it was done for, no error. */
export function succeededStatus(
  object: ExtensionObject,
  type: OperationType,
  description: string,
  now: Date,
): StatusPatch {
  return {
    observedGeneration: object.metadata.generation,
    lastOperation: lastOperation(type, "Succeeded", 100, description, now),
    lastError: null,
  };
}

/** The status of an operation that failed: 50 %, the generation it was tried for, the error and its codes. */
export function errorStatus(
  object: ExtensionObject,
  type: OperationType,
  description: string,
  error: unknown,
  now: Date,
): StatusPatch {
  const message = `${description}: ${errorMessage(error)}`;
  const codes = errorCodes(error);
  return {
    observedGeneration: object.metadata.generation,
    lastOperation: lastOperation(type, "Error", 50, message, now),
    lastError: {
      description: message,
      codes: codes.length > 0 ? codes : null,
      taskID: null,
      lastUpdateTime: timeToSecond(now),
    },
  };
}

/** The status fields that an actuator reports, each replacing its old value as a whole. */
export function actuatorStatus(object: ExtensionObject, reported: ActuatorStatus): StatusPatch {
  const before: Record<string, unknown> = { ...object.status };
  const after: Record<string, unknown> = { ...reported.status };
  if (reported.providerStatus !== undefined) after["providerStatus"] = reported.providerStatus;
  if (reported.state !== undefined) after["state"] = reported.state;
  return Object.fromEntries(Object.entries(after).map(([key, value]) => [key, mergePatch(before[key], value)]));
}

/** Writes a change to an object's status and returns the object after it. */
export function writeStatus(
  client: KubeClient,
  object: ExtensionObject,
  status: StatusPatch,
): Promise<ExtensionObject> {
  return client.patch<ExtensionObject>(refOf(object), { status }, { subresource: "status" });
}

/** A time as Kubernetes writes it: RFC 3339, in UTC, to the second. */
export function timeToSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function lastOperation(type: OperationType, state: string, progress: number, description: string, now: Date) {
  return { type, state, progress, description, lastUpdateTime: timeToSecond(now) };
}

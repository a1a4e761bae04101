import type { OperationType } from "../api/index.ts";
import { refOf, type KubeClient } from "../kube/index.ts";
import type { ActuatorStatus } from "./actuator.ts";
import { errorCodes, errorMessage } from "./errors.ts";
import type { ExtensionObject } from "./extension-object.ts";
import { mergePatch } from "./merge-patch.ts";

/** A change of `status`, as a merge patch. */
export type StatusPatch = Readonly<Record<string, unknown>>;

/** What happens to an object, in words for people, and when it was seen. */
export interface Progress {
  readonly type: OperationType;
  readonly description: string;
  readonly at: Date;
}

/** The status of an operation that begins: 1 %. The observed generation and an old error stay as they are. */
export function processingStatus(progress: Progress): StatusPatch {
  return { lastOperation: lastOperation("Processing", 1, progress) };
}

/** The status of an operation that was done: 100 %, the generation it was done for, no error. */
export function succeededStatus({ metadata }: ExtensionObject, progress: Progress): StatusPatch {
  return {
    observedGeneration: metadata.generation,
    lastOperation: lastOperation("Succeeded", 100, progress),
    lastError: null,
  };
}

/** The status of an operation that failed: 50 %, the generation it was tried for, the error and its codes. */
export function errorStatus({ metadata }: ExtensionObject, progress: Progress, error: unknown): StatusPatch {
  const description = `${progress.description}: ${errorMessage(error)}`;
  const codes = errorCodes(error);
  return {
    observedGeneration: metadata.generation,
    lastOperation: lastOperation("Error", 50, { ...progress, description }),
    lastError: {
      description,
      codes: codes.length > 0 ? codes : null,
      taskID: null,
      lastUpdateTime: timeToSecond(progress.at),
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
  return client.patch(refOf(object), { status }, { subresource: "status" });
}

/** A time as Kubernetes writes it: RFC 3339, in UTC, to the second. */
export function timeToSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function lastOperation(state: string, progress: number, { type, description, at }: Progress) {
  return { type, state, progress, description, lastUpdateTime: timeToSecond(at) };
}

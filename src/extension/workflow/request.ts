import { TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { OperationType } from "../../api/index.ts";
import type { ExtensionObject } from "../extension-object.ts";

/** A function of an actuator. */
export type WorkflowCall = "reconcile" | "delete" | "forceDelete" | "migrate" | "restore";

/**
 * What a workflow is told: which object, and what to do. It is all that its history holds of it: activities read the object,
 * its Cluster and its Secrets in the seed.
 */
export interface WorkflowRequest {
  readonly kind: string;
  /** None for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly call: WorkflowCall;
  readonly operation: OperationType;
}

/** The request that a call of an actuator stands for. */
export function requestOf({ kind, metadata }: ExtensionObject, call: WorkflowCall, operation: OperationType) {
  const { namespace, name, uid = "", generation = 0 } = metadata;
  return { kind, ...(namespace === undefined ? {} : { namespace }), name, uid, generation, call, operation };
}

/** The id of an object's workflow. The operation is not in it, so that Temporal itself sees to it that never two run at once. */
export function workflowIdOf({ kind, namespace, name, uid }: WorkflowRequest): string {
  return ["extension", kind, ...(namespace === undefined ? [] : [namespace]), name, uid].join("/");
}

/** What tells requests for one object apart: the call, the generation, and when the caller asked. */
export function revisionOf({ call, generation }: WorkflowRequest, { metadata }: ExtensionObject): string {
  return `${call} ${generation} ${metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? ""}`.trimEnd();
}

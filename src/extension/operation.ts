import { OPERATION_ANNOTATION, type OperationType } from "../api/index.ts";
import type { ExtensionObject } from "./extension-object.ts";

/** What to do with an object now: an operation, or nothing, and why. */
export type Decision =
  | { readonly run: OperationType }
  | { readonly skip: "waiting for state" | "shoot failed" | "already migrated" | "no finalizer" | "nothing asked" };

/** What a decision depends on besides the object. */
export interface Circumstances {
  readonly finalizer: string;
  readonly shootFailed: boolean;
  /** The actuator asked to look at the object again about now. */
  readonly revisit: boolean;
}

/** Decides what an object needs, given its annotations, status and Shoot (Gardener's operation annotation wrapper and reconcilers). */
export function decideOperation(object: ExtensionObject, o: Circumstances): Decision {
  if (requestedOperation(object) === "wait-for-state") return { skip: "waiting for state" };
  if (o.shootFailed) return { skip: "shoot failed" };
  const run = chooseOperation(object);
  if (isMigrated(object) && run !== "Migrate" && run !== "Restore") return { skip: "already migrated" };
  if (run === "Delete" && !object.metadata.finalizers?.includes(o.finalizer)) return { skip: "no finalizer" };
  if (run === "Reconcile" && !o.revisit && !isAsked(object)) return { skip: "nothing asked" };
  return { run };
}

/** The type of the next operation: migrate before deletion before restore; an unfinished one goes on (`ComputeOperationType`). */
export function chooseOperation(object: ExtensionObject): OperationType {
  const requested = requestedOperation(object);
  const last = object.status?.lastOperation;
  if (requested === "migrate") return "Migrate";
  if (object.metadata.deletionTimestamp) return "Delete";
  if (requested === "restore") return "Restore";
  if (!last) return "Create";
  if (last.state !== "Succeeded" && isResumable(last.type)) return last.type;
  return "Reconcile";
}

/** The value of the `gardener.cloud/operation` annotation: owned by the caller, removed by the controller. */
export function requestedOperation(object: ExtensionObject): string | undefined {
  return object.metadata.annotations?.[OPERATION_ANNOTATION];
}

/** A trigger may arrive after the run that answered it already; upstream reconciles once more then. */
function isAsked(object: ExtensionObject): boolean {
  return requestedOperation(object) !== undefined || object.status?.lastOperation?.state !== "Succeeded";
}

function isResumable(type: string): type is "Create" | "Migrate" | "Restore" {
  return type === "Create" || type === "Migrate" || type === "Restore";
}

function isMigrated(object: ExtensionObject): boolean {
  const last = object.status?.lastOperation;
  return last?.type === "Migrate" && last.state === "Succeeded";
}

import { isDeepStrictEqual } from "node:util";
import type { ExtensionObject } from "./extension-object.ts";
import { requestedOperation } from "./operation.ts";

/** One change seen by a watch; at the start of a process every existing object is `added`. */
export interface ObjectEvent {
  readonly type: "added" | "updated" | "deleted";
  readonly object: ExtensionObject;
  readonly old?: ExtensionObject | undefined;
}

/**
 * Whether a change asks for an operation (Gardener's `DefaultControllerPredicates`): a requested operation, a deletion,
 * and, for objects found when the process starts, anything unfinished. A new generation alone does not.
 */
export function isTrigger({ type, object, old }: ObjectEvent): boolean {
  if (type === "deleted") return false;
  const requested = isRequested(object);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  if (type === "added" || !old) return requested || deleting || !hasSucceeded(object);
  if (requested) return !isDeepStrictEqual(request(object), request(old));
  return deleting && isDeepStrictEqual(object.status, old.status);
}

function isRequested(object: ExtensionObject): boolean {
  return ["reconcile", "migrate", "restore"].includes(requestedOperation(object) ?? "");
}

function hasSucceeded(object: ExtensionObject): boolean {
  return object.status?.lastOperation?.state === "Succeeded";
}

/** What makes a request another one; our own status writes while it runs must not. */
function request(object: ExtensionObject): unknown {
  const { annotations, generation, deletionTimestamp } = object.metadata;
  return { annotations, generation, deletionTimestamp };
}

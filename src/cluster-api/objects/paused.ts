import { DELETE_FOR_MOVE_ANNOTATION, MANAGED_BY_ANNOTATION, PAUSED_ANNOTATION } from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Said } from "./conditions.ts";
import { annotationOf } from "./remembered.ts";

/** Whether users have asked controllers to keep off: by a Cluster's spec, or by the annotation of any object. */
export function isPaused({ metadata, ...object }: KubeObject): boolean {
  const { paused = false } = (object["spec"] ?? {}) as { readonly paused?: unknown };
  return paused === true || PAUSED_ANNOTATION in (metadata.annotations ?? {});
}

/** Whether `clusterctl move` has made the object elsewhere: what happens to it here says nothing any more. */
export const isLeftToMove = ({ metadata }: KubeObject): boolean =>
  DELETE_FOR_MOVE_ANNOTATION in (metadata.annotations ?? {});

/** Whether a system outside of Cluster API keeps an infrastructure object, status included (contract: "externally managed"). */
export const isManagedElsewhere = (object: KubeObject): boolean =>
  annotationOf(object, MANAGED_BY_ANNOTATION) !== undefined;

/** Condition Paused, of an object: whether its controller keeps off. */
export const pausedSaid = (isPaused: boolean): Said =>
  isPaused
    ? { type: "Paused", status: "True", reason: "Paused", message: "the Cluster or this object is paused" }
    : { type: "Paused", status: "False", reason: "NotPaused", message: "" };

import { MIRROR_POD_ANNOTATION } from "../../api/annotations.ts";
import { MANAGED_BY_LABEL, NO_CLEANUP_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";

/** Whether an object is none of the users': the cluster lives on it, or flows and extensions put it there. */
export function isSpared({ kind, metadata, ...object }: KubeObject): boolean {
  if (isMarked(metadata)) return true;
  if (metadata.namespace === "kube-system" && isOwned(metadata)) return true; // goes, or stays, with its owner
  if (kind === "Namespace") return systemNamespaces.has(metadata.name);
  if (kind === "Service") return metadata.namespace === "default" && metadata.name === "kubernetes";
  if (kind === "APIService") return (object["spec"] as { service?: unknown } | undefined)?.service === undefined;
  return metadata.annotations?.[MIRROR_POD_ANNOTATION] !== undefined;
}

const isMarked = ({ labels = {} }: KubeObject["metadata"]): boolean =>
  labels[NO_CLEANUP_LABEL] === "true" ||
  labels[ROLE_LABEL] === "system-component" ||
  labels[MANAGED_BY_LABEL] !== undefined;

const isOwned = ({ ownerReferences = [] }: KubeObject["metadata"]): boolean =>
  ownerReferences.some(({ controller }) => controller === true);

const systemNamespaces = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

import type { KubeObject, ObjectMeta } from "../../api/schema/meta.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { omitUndefined } from "../../omit-undefined.ts";

/** kubectl's copy of what was applied last: in a Secret, the Secret once more. */
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * The object as an operator would have written it: without what the API server sets, without status, and without finalizers
 * and owners, which are of that garden. A Shoot keeps its uid, by which its backups and nodes know it.
 */
export function withoutServerFields({ status, ...object }: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const metadata: ObjectMeta = {
    name,
    ...omitUndefined({ namespace, labels, annotations: withoutApplied(annotations) }),
    ...(object.kind === Shoot.kind ? omitUndefined({ uid: uidOf({ ...object, status }) }) : {}),
  };
  return { ...object, metadata };
}

/** The uid by which backups and nodes know a Shoot: that of its status, which stays when a garden loses and gets back its objects. */
export function uidOf({ metadata, status }: KubeObject): string | undefined {
  const { uid } = (status ?? {}) as { readonly uid?: string };
  return uid ?? metadata.uid;
}

function withoutApplied(annotations: ObjectMeta["annotations"]): ObjectMeta["annotations"] {
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== APPLIED);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

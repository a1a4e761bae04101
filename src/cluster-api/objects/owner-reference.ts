import type { KubeObject } from "../../api/schema/meta.ts";

/** How an object is named as an owner. */
export function ownerReference({ apiVersion, kind, metadata: { name, uid = "" } }: KubeObject) {
  return { apiVersion, kind, name, uid };
}

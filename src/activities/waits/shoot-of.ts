import { SHOOT_UID_ANNOTATION } from "../../api/annotations.ts";
import { shootUidOfBackupEntry } from "../../api/extensions/backup-entry.ts";
import type { KubeObject } from "../../api/schema/meta.ts";

/**
 * The uid of the Shoot that an object in a seed is of: its namespace says so, or its name where it is in none. Undefined
 * where that is not known.
 */
export function shootUidOf(
  { kind, metadata }: KubeObject,
  namespaceOf: (name: string) => KubeObject | undefined,
): string | undefined {
  if (kind === "Namespace") return metadata.annotations?.[SHOOT_UID_ANNOTATION];
  if (metadata.namespace === undefined) return shootUidOfBackupEntry(metadata.name);
  return namespaceOf(metadata.namespace)?.metadata.annotations?.[SHOOT_UID_ANNOTATION];
}

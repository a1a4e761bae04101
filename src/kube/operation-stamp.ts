import { TIMESTAMP_ANNOTATION } from "../api/annotations.ts";
import type { KubeObject } from "../api/schema/meta.ts";

/** The id of an extension's next operation. Later than the last one by at least a millisecond, whatever the clock did meanwhile. */
export function nextTimestamp(existing: KubeObject | undefined): string {
  const last = Date.parse(existing?.metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? "");
  const now = Math.max(Date.now(), Number.isNaN(last) ? 0 : last + 1);
  return new Date(now).toISOString().replace("Z", "000000Z");
}

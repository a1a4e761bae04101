import { TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { ExtensionLike } from "../waits/readiness.ts";
import { contractOf, type AppliedKind } from "../../api/extensions/kinds.ts";

/** What decides, beside a spec that is news to it, whether applying an object also asks its controller to act. */
export interface TriggerFacts {
  readonly kind: AppliedKind;
  readonly existing: ExtensionLike | undefined;
  /** The Shoot carries the task annotation for this object, or is being restored. */
  readonly asked: boolean;
}

/**
 * Whether the controller is to act, by the kind's rule (`trigger` in its contract): always, or only where the Shoot asked
 * or the last operation did not end well.
 */
export function needsTrigger({ kind, existing, asked }: TriggerFacts): boolean {
  if (contractOf(kind).trigger === "always") return true;
  if (asked || existing === undefined) return true;
  const { lastOperation } = existing.status ?? {};
  if (lastOperation?.state !== "Succeeded") return true;
  return !answered(existing, lastOperation.lastUpdateTime);
}

/** Whether the last operation is an answer to the last request; equal seconds are. */
function answered({ metadata }: ExtensionLike, lastUpdateTime: string): boolean {
  const stamp = Date.parse(metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? "");
  return !Number.isNaN(stamp) && Math.floor(stamp / 1000) * 1000 <= Date.parse(lastUpdateTime);
}

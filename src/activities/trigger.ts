import type { ExtensionLike } from "./readiness.ts";
import type { ExtensionKind } from "./index.ts";

/** What decides whether applying an object also asks its controller to act. */
export interface TriggerFacts {
  readonly kind: ExtensionKind;
  readonly existing: ExtensionLike | undefined;
  /** The Shoot carries the task annotation for this object, or is being restored. */
  readonly asked: boolean;
  /** What the controller would act on differs from what it acted on. */
  readonly changed: boolean;
}

/**
 * Every kind is triggered by every flow, except Infrastructure and DNSRecord, which cost API calls at a provider:
 * those only when somebody asked, something changed, or the last operation didn't end well.
 */
export function needsTrigger({ kind, existing, asked, changed }: TriggerFacts): boolean {
  if (kind !== "Infrastructure" && kind !== "DNSRecord") return true;
  if (asked || existing === undefined) return true;
  if (kind === "DNSRecord" && changed) return true;
  const { lastOperation } = existing.status ?? {};
  if (lastOperation?.state !== "Succeeded") return true;
  const stamp = Date.parse(existing.metadata.annotations?.["gardener.cloud/timestamp"] ?? "");
  return Number.isNaN(stamp) || Math.floor(stamp / 1000) * 1000 > Date.parse(lastOperation.lastUpdateTime);
}

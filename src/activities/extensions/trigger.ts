import { TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { ExtensionLike } from "../waits/readiness.ts";
import { waitingOf, type ExtensionKind } from "../../api/extensions/kinds.ts";

/** What decides, beside a spec that is news to it, whether applying an object also asks its controller to act. */
export interface TriggerFacts {
  readonly kind: ExtensionKind;
  readonly existing: ExtensionLike | undefined;
  /** The Shoot carries the task annotation for this object, or is being restored. */
  readonly asked: boolean;
}

/**
 * Whether the controller is to act, by the kind's rule (`trigger` in its contract): always, or only where the Shoot asked
 * or the last operation did not end well.
 */
export const needsTrigger: TriggerRule = (facts) => isAlways(facts) || needsAttention(facts);

/**
 * The same in a periodic operation: a controller that acts in every operation is spared while its object is
 * well, but for once a day, so that it mends what others have changed at the provider.
 */
export const needsPeriodicTrigger: TriggerRule = (facts) =>
  needsAttention(facts) || facts.existing?.status?.lastError !== undefined || (isAlways(facts) && isOld(facts));

/** Whether to ask a controller to act. */
export type TriggerRule = (facts: TriggerFacts) => boolean;

const isAlways = ({ kind }: TriggerFacts): boolean => waitingOf(kind).trigger === "always";

const isOld = ({ existing }: TriggerFacts): boolean => {
  const since = Date.now() - Date.parse(existing?.status?.lastOperation?.lastUpdateTime ?? "");
  return !(since < LONGEST_REST); // a time that cannot be read is old
};

/** In ms. */
const LONGEST_REST = 24 * 3_600_000;

function needsAttention({ existing, asked }: TriggerFacts): boolean {
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

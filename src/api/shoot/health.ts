import type { Condition } from "../schema/meta.ts";
import type { Shoot } from "./shoot.ts";

/** The aspects of a Shoot's health, as Gardener names them. */
export const healthTypes = [
  "APIServerAvailable",
  "ControlPlaneHealthy",
  "EveryNodeReady",
  "SystemComponentsHealthy",
] as const;

/** One of {@link healthTypes}. */
export type HealthType = (typeof healthTypes)[number];

/** What constrains operations on a Shoot, as Gardener names it. */
export const constraintTypes = ["HibernationPossible", "MaintenancePreconditionsSatisfied"] as const;

/**
 * Whether the Shoot's conditions are to say how it is: a control plane that is still being built, or on the move, is not
 * sick. One whose move is stuck may be away, and its users are told.
 */
export function isCaredFor({ status }: Pick<Shoot, "status">): boolean {
  const { type, state = "Pending" } = status?.lastOperation ?? {};
  if (type === "Migrate" || type === "Restore") return ["Succeeded", "Error", "Failed"].includes(state);
  return type === "Reconcile" || (type === "Create" && state === "Succeeded");
}

/**
 * The conditions or constraints of a Shoot whose seed is silent: of those that the seed's worker keeps, it is unknown how they
 * are (Gardener: the same reason). Those that say so already, and those of others, stay as they are.
 */
export function doubted(conditions: readonly Condition[], now: string): Condition[] {
  return conditions.map((condition) =>
    !isKeptBySeed(condition) || condition.status === doubt.status
      ? condition
      : { ...condition, ...doubt, lastTransitionTime: now, lastUpdateTime: now },
  );
}

const isKeptBySeed = ({ type }: Condition): boolean => keptBySeed.includes(type);

const keptBySeed: readonly string[] = [...healthTypes, ...constraintTypes];

/** The message of the conditions that are not kept up to date while a seed's worker is silent. */
export const SILENT_WORKER = "The seed's worker has stopped posting ready status.";

const doubt = { status: "Unknown", reason: "StatusUnknown", message: SILENT_WORKER } as const;

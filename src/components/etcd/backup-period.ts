import type { ControlPlaneContext } from "../context.ts";
import { sha256 } from "../files.ts";

/** Minutes between a Shoot's snapshots, and the first of an hour in which one begins: it depends on the Shoot, so that etcds take turns. */
export function snapshotPeriod({
  shoot,
  namespace,
  snapshotMinutes: period = PERIOD,
}: Pick<ControlPlaneContext, "shoot" | "namespace" | "snapshotMinutes">): {
  readonly period: number;
  readonly minute: number;
} {
  const identity = shoot.metadata.uid ?? namespace;
  return { period, minute: Number.parseInt(sha256({ identity }).slice(0, 8), 16) % period };
}

/** Minutes between snapshots unless it is said otherwise: how much a Shoot can lose when its seed is lost. */
const PERIOD = 10;

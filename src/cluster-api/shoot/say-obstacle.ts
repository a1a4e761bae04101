import type { ShootCluster, ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { findCondition, type Said } from "../objects/conditions.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { say, type Reporting } from "../objects/say.ts";
import { GARDEN_UNREACHABLE } from "./garden-view.ts";

/** Says of a control plane that nothing can be done for it now. All else that is said stays: its API server may be as it was. */
export async function sayObstacle(
  management: KubeClient,
  controlPlane: ShootControlPlane,
  obstacle: Obstacle,
): Promise<void> {
  await say(management, controlPlane, [
    unknown(controlPlane, "ShootSynced", obstacle),
    ...leaving(controlPlane, obstacle),
  ]);
}

/**
 * Says of an infrastructure that nothing can be done for it now. One that is ready stays so: what the garden has for it is there, and
 * a Cluster is not to become unavailable over it.
 */
export async function sayObstacleOfInfrastructure(
  management: KubeClient,
  infrastructure: ShootCluster,
  obstacle: Obstacle,
): Promise<void> {
  const isReady = findCondition(infrastructure.status?.conditions, "Ready")?.status === "True";
  const ready = { ...unknown(infrastructure, "Ready", obstacle), ...(isReady && { status: "True" as const }) };
  await say(management, infrastructure, [ready, ...leaving(infrastructure, obstacle)]);
}

/** A leader that begins while the garden is away keeps what the one before it said: since when. */
function unknown({ status }: Reporting, type: string, { reason, message }: Obstacle): Said {
  const before = findCondition(status?.conditions, type);
  const isSame = reason === GARDEN_UNREACHABLE && before?.reason === reason;
  return { type, status: "Unknown", reason, message: isSame ? before.message : message };
}

const leaving = ({ metadata }: Reporting, obstacle: Obstacle): readonly Said[] =>
  metadata.deletionTimestamp === undefined ? [] : [{ type: "Deleting", status: "True", ...obstacle }];

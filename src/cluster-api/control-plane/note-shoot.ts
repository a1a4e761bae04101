import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_SHOOT_LABEL } from "../../api/labels.ts";
import { moveOf } from "../../api/placement/move.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";

/**
 * Writes down that a control plane has had a Shoot, and lets `clusterctl move` wait while that is made or moves: what is half done
 * here would be done again elsewhere.
 */
export async function noteShoot(
  management: KubeClient,
  { metadata, ...rest }: ShootControlPlane,
  shoot: Shoot | undefined,
): Promise<void> {
  const isBlocked = BLOCK_MOVE_ANNOTATION in (metadata.annotations ?? {});
  const isBusy = isUnderWay(shoot);
  const { uid = null } = shoot?.metadata ?? {};
  const noted = {
    ...(isBlocked !== isBusy && { annotations: { [BLOCK_MOVE_ANNOTATION]: isBusy ? "true" : null } }),
    ...(uid !== null &&
      metadata.labels?.[CONTROL_PLANE_SHOOT_LABEL] !== uid && { labels: { [CONTROL_PLANE_SHOOT_LABEL]: uid } }),
  };
  if (Object.keys(noted).length === 0) return;
  await management.patch(refOf({ metadata, ...rest }), { metadata: { uid: metadata.uid, ...noted } });
}

/** Whether a Shoot is being made or moves. One that has begun no operation yet is about to be made. */
export function isUnderWay(shoot: Shoot | undefined): boolean {
  if (shoot === undefined) return false;
  const { type = "Create", state } = shoot.status?.lastOperation ?? {};
  return moveOf(shoot).is !== "settled" || (type === "Create" && state !== "Succeeded");
}

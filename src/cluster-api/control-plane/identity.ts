import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import { CONTROL_PLANE_ID_LABEL, CONTROL_PLANE_SHOOT_LABEL, PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { SHOOT_FINALIZER } from "../../api/names.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";

/**
 * Writes down, before a Shoot is made, what has to be known for as long as the control plane lives, also after `clusterctl move`
 * has made it anew: its identity, and its project. The finalizer keeps it until its Shoot has gone. Returns it as it then is.
 */
export async function establish(
  management: KubeClient,
  controlPlane: ShootControlPlane,
  project: string,
): Promise<ShootControlPlane> {
  const { labels = {}, finalizers = [], uid, resourceVersion } = controlPlane.metadata;
  if (
    isSaid(labels[CONTROL_PLANE_ID_LABEL]) &&
    labels[PROJECT_NAMESPACE_LABEL] !== undefined &&
    finalizers.includes(SHOOT_FINALIZER)
  )
    return controlPlane;
  const identity = {
    [CONTROL_PLANE_ID_LABEL]: idOf(controlPlane),
    [PROJECT_NAMESPACE_LABEL]: project,
  };
  const metadata = {
    labels: identity,
    finalizers: [...new Set([...finalizers, SHOOT_FINALIZER])],
    uid,
    resourceVersion,
  };
  return await management.patch(refOf(controlPlane), { metadata });
}

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

/**
 * Whether a Shoot bears this control plane's id; one without an id has none. Users write labels of control planes, so this counts
 * only for a Shoot in the namespace that the control plane may use.
 */
export function isOwn({ metadata }: Shoot, controlPlane: ShootControlPlane): boolean {
  const id = idOf(controlPlane);
  return id !== undefined && metadata.labels?.[CONTROL_PLANE_ID_LABEL] === id;
}

/** What a control plane's Shoot is known by: its label, else its uid, which the label will be. */
export function idOf({ metadata: { labels = {}, uid } }: ShootControlPlane): string | undefined {
  const said = labels[CONTROL_PLANE_ID_LABEL];
  return isSaid(said) ? said : uid;
}

const isSaid = (label: string | undefined): boolean => label !== undefined && label !== "";

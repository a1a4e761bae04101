import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL, PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { SHOOT_FINALIZER } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";

/** What an object of one kind is known by in the garden, and what keeps it for as long as the garden has something of it. */
export interface Identity {
  /** Its value is the id. */
  readonly label: string;
  readonly finalizer: string;
}

/** By what a control plane is known: its Shoot bears the label too. */
export const controlPlaneIdentity: Identity = { label: CONTROL_PLANE_ID_LABEL, finalizer: SHOOT_FINALIZER };

/**
 * Writes down, before anything is made in the garden, what has to be known for as long as an object lives, also after `clusterctl
 * move` has made it anew: its id, and its project. The finalizer keeps it until the garden has nothing of it. Returns it as it then is.
 */
export async function establish<T extends KubeObject>(
  management: KubeClient,
  object: T,
  { label, finalizer }: Identity,
  project: string,
): Promise<T> {
  const { labels = {}, finalizers = [], uid, resourceVersion } = object.metadata;
  if (labels[label] && labels[PROJECT_NAMESPACE_LABEL] !== undefined && finalizers.includes(finalizer)) return object;
  const said = { [label]: identityOf(object, label), [PROJECT_NAMESPACE_LABEL]: project };
  const kept = [...new Set([...finalizers, finalizer])];
  return await management.patch(refOf(object), {
    metadata: { labels: said, finalizers: kept, uid, resourceVersion },
  });
}

/** What an object is known by: its label, else its uid, which the label will be. */
export const identityOf = ({ metadata: { labels, uid } }: KubeObject, label: string): string | undefined =>
  labels?.[label] || uid;

/** What a control plane's Shoot is known by. */
export const idOf = (controlPlane: ShootControlPlane): string | undefined =>
  identityOf(controlPlane, CONTROL_PLANE_ID_LABEL);

/**
 * Whether a Shoot bears this control plane's id; one without an id has none. Users write labels of control planes, so this counts
 * only for a Shoot in the namespace that the control plane may use.
 */
export const isOwn = (shoot: Shoot, controlPlane: ShootControlPlane): boolean => bearsId(shoot, idOf(controlPlane));

/** Whether an object bears a control plane's id; no object bears an id that is absent or empty. */
export const bearsId = ({ metadata }: KubeObject, id: string | undefined): boolean =>
  Boolean(id) && metadata.labels?.[CONTROL_PLANE_ID_LABEL] === id;

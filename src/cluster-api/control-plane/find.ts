import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../api/labels.ts";
import type { KubeClient } from "../../kube/index.ts";
import { idOf, isOwn } from "../shoot/identity.ts";

/** Where a Cluster's Shoot is, or is to be: in its project, under the name that is adopted, else under the Cluster's. */
export const shootKey = (
  { spec }: ShootControlPlane,
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
) => ({ namespace, name: spec.shootRef?.name ?? cluster });

/** The Shoot of that place, as the garden has it now; it may be another control plane's. */
export function findShoot(
  garden: KubeClient,
  controlPlane: ShootControlPlane,
  place: { readonly namespace: string; readonly cluster: string },
): Promise<Shoot | undefined> {
  return garden.read(Shoot, shootKey(controlPlane, place));
}

/**
 * The Shoot of that namespace that bears the control plane's id, as the garden has it now. Of several, as a copied manifest makes
 * them, only the one under the name that the control plane reports, or else that it is to have.
 */
export async function findOwnShoot(
  garden: KubeClient,
  controlPlane: ShootControlPlane,
  place: { readonly namespace: string; readonly cluster: string },
): Promise<Shoot | undefined> {
  const id = idOf(controlPlane);
  if (id === undefined) return undefined;
  const labelSelector = `${CONTROL_PLANE_ID_LABEL}=${id}`;
  const found = await garden.list(Shoot, { namespace: place.namespace, labelSelector });
  const own = found.filter((one) => isOwn(one, controlPlane));
  const named = (name: string) => own.find(({ metadata }) => metadata.name === name);
  const { shoot } = controlPlane.status ?? {};
  if (shoot !== undefined) return named(shoot.name);
  return named(shootKey(controlPlane, place).name) ?? (own.length === 1 ? own[0] : undefined);
}

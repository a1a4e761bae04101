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
  const { namespace } = place;
  const names = new Set<string>();
  for await (const { metadata } of garden.metadata(Shoot, { namespace, labelSelector })) names.add(metadata.name);
  const name = chooseName(names, {
    reported: controlPlane.status?.shoot?.name,
    own: shootKey(controlPlane, place).name,
  });
  const found = name === undefined ? undefined : await garden.read(Shoot, { namespace, name });
  return found && isOwn(found, controlPlane) ? found : undefined;
}

interface Names {
  /** Under which the control plane reports its Shoot. */
  readonly reported: string | undefined;
  /** Under which the control plane's Shoot is created. */
  readonly own: string;
}

/** Users copy a Shoot as often as they like, so of the others no more than the name is read. */
function chooseName(names: ReadonlySet<string>, { reported, own }: Names): string | undefined {
  if (reported !== undefined) return names.has(reported) ? reported : undefined;
  if (names.has(own)) return own;
  const [only] = names;
  return names.size === 1 ? only : undefined;
}

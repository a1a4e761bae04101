import { isDeepStrictEqual } from "node:util";
import type { Cluster, ClusterEndpoint, ControlPlaneEndpoint, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { refOf } from "../../kube/index.ts";
import { isProvidedBy, provideEndpoint, type Providing } from "../endpoint/provided.ts";
import { findCondition } from "../objects/conditions.ts";
import type { Obstacle } from "../objects/obstacle.ts";

/** The name of the endpoint that a Cluster's control plane brings. */
export const endpointName = ({ metadata }: Cluster): string => `${metadata.name}-control-plane`;

/**
 * Makes an endpoint known as the control plane's: as a ClusterEndpoint that it owns (the proposal of flexible endpoints), then in
 * its own spec, which core reads once the control plane is initialized. Nothing is written where both say so. Another's object of
 * that name stays as it is: then the answer says so, and only the spec is written.
 */
export async function publishEndpoint(
  { management, events }: Providing,
  { cluster, controlPlane, present }: Publishing,
  endpoint: ControlPlaneEndpoint,
): Promise<Obstacle | undefined> {
  const name = endpointName(cluster);
  const taken = await provideEndpoint(
    { management, events },
    { cluster, owner: controlPlane, name, present },
    endpoint,
  );
  if (!isDeepStrictEqual({ ...controlPlane.spec.controlPlaneEndpoint }, endpoint))
    await management.patch(refOf(controlPlane), {
      metadata: { uid: controlPlane.metadata.uid },
      spec: { controlPlaneEndpoint: endpoint },
    });
  return taken;
}

/**
 * Whether the Cluster may have another endpoint than the control plane's own. Not once the own one has surfaced, even while its new
 * value is on the way: the kubeconfig makes no detour by the address that the Shoot has left.
 */
export const isOverruled = (own: ClusterEndpoint | undefined, controlPlane: ShootControlPlane): boolean =>
  own === undefined ||
  !isProvidedBy(own, controlPlane) ||
  findCondition(own.status?.conditions, "Surfaced")?.status !== "True";

/** Whose endpoint it is, and what is there of it. */
export interface Publishing {
  readonly cluster: Cluster;
  readonly controlPlane: ShootControlPlane;
  readonly present: ClusterEndpoint | undefined;
}

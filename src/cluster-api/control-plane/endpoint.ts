import { isDeepStrictEqual } from "node:util";
import type { Cluster, ClusterEndpoint, ControlPlaneEndpoint, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { provideEndpoint } from "../endpoint/provided.ts";

/** The name of the endpoint that a Cluster's control plane brings. */
export const endpointName = ({ metadata }: Cluster): string => `${metadata.name}-control-plane`;

/**
 * Makes an endpoint known as the control plane's: as a ClusterEndpoint that it owns (seed 004), then in its own spec, which core
 * reads once the control plane is initialized. Nothing is written where both say so.
 */
export async function publishEndpoint(
  management: KubeClient,
  { cluster, controlPlane, present }: Publishing,
  endpoint: ControlPlaneEndpoint,
): Promise<void> {
  const name = endpointName(cluster);
  await provideEndpoint(management, { cluster, owner: controlPlane, name, present }, endpoint);
  if (!isDeepStrictEqual({ ...controlPlane.spec.controlPlaneEndpoint }, endpoint))
    await management.patch(refOf(controlPlane), {
      metadata: { uid: controlPlane.metadata.uid },
      spec: { controlPlaneEndpoint: endpoint },
    });
}

/** Whose endpoint it is, and what is there of it. */
export interface Publishing {
  readonly cluster: Cluster;
  readonly controlPlane: ShootControlPlane;
  readonly present: ClusterEndpoint | undefined;
}

import type { Cluster, ControlPlaneEndpoint, ShootCluster } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { provideEndpoint } from "../endpoint/provided.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { controlPlaneOf, type World } from "../shoot/world.ts";
import type { Holder } from "./holder.ts";
import { reserveDomain } from "./reservation.ts";

/** Where the API server of a Shoot with this domain will answer: flows advertise it there. */
export const endpointAt = (domain: string): ControlPlaneEndpoint => ({ host: `api.${domain}`, port: 443 });

/**
 * Reserves the domain of an infrastructure that brings the endpoint, and makes the ClusterEndpoint, before there is a Shoot; returns
 * what stands against that. A control plane that asks for no such domain would be looked for where it never is.
 */
export async function provideDomain(
  { management, garden, world }: DomainDeps,
  { cluster, infrastructure, holder }: DomainPlace,
): Promise<Obstacle | undefined> {
  const { domain } = infrastructure.spec?.endpoint ?? {};
  if (domain === undefined) return undefined;
  const controlPlane = controlPlaneOf(world, cluster);
  if (controlPlane !== undefined && controlPlane.spec.endpointFrom !== "Infrastructure") {
    const message = `ShootControlPlane ${controlPlane.metadata.name} does not ask for this endpoint: its spec.endpointFrom is not Infrastructure`;
    return { reason: "EndpointUnused", message };
  }
  const taken = await reserveDomain(garden, { domain, ...holder }, world.reservations.get(domain));
  if (taken !== undefined) return taken;
  const name = `${cluster.metadata.name}-infrastructure`;
  const present = world.endpoints.get(name, cluster.metadata.namespace);
  return await provideEndpoint(management, { cluster, owner: infrastructure, name, present }, endpointAt(domain));
}

/** What an endpoint is provided with. */
export interface DomainDeps {
  readonly management: KubeClient;
  readonly garden: KubeClient;
  readonly world: { readonly [K in "controlPlanes" | "reservations" | "endpoints"]: Pick<World[K], "get"> };
}

/** Whose endpoint it is. */
export interface DomainPlace {
  readonly cluster: Cluster;
  readonly infrastructure: ShootCluster;
  readonly holder: Holder;
}

import type { Cluster, ControlPlaneEndpoint, ShootCluster } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { provideEndpoint, type Providing } from "../endpoint/provided.ts";
import { asClusterEndpoint } from "../endpoint/value.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { controlPlaneOf } from "../shoot/cluster-parts.ts";
import type { World } from "../shoot/world.ts";
import type { Holder } from "./holder.ts";
import { reserveDomain } from "./reservation.ts";

/** Where the API server of a Shoot with this domain will answer: flows advertise it there. */
export const endpointAt = (domain: string): ControlPlaneEndpoint => ({ host: `api.${domain}`, port: 443 });

/**
 * Reserves the domain of an infrastructure that brings the endpoint, and makes the ClusterEndpoint, before there is a Shoot; returns
 * what stands against that. A control plane that asks for no such domain would be looked for where it never is.
 */
export async function provideDomain(
  { management, garden, events, world }: DomainDeps,
  { cluster, infrastructure, holder }: DomainPlace,
): Promise<Obstacle | undefined> {
  const { domain } = infrastructure.spec?.endpoint ?? {};
  if (domain === undefined) return undefined;
  const improper = whyImproper(domain);
  if (improper !== undefined) return improper;
  const controlPlane = controlPlaneOf(world, cluster);
  if (controlPlane !== undefined && controlPlane.spec.endpointFrom !== "Infrastructure") {
    const message = `ShootControlPlane ${controlPlane.metadata.name} does not ask for this endpoint: its spec.endpointFrom is not Infrastructure`;
    return { reason: "EndpointUnused", message };
  }
  const taken = await reserveDomain(garden, { domain, ...holder }, world.reservations.get(domain));
  if (taken !== undefined) return taken;
  const name = `${cluster.metadata.name}-infrastructure`;
  const present = world.endpoints.get(name, cluster.metadata.namespace);
  return await provideEndpoint(
    { management, events },
    { cluster, owner: infrastructure, name, present },
    endpointAt(domain),
  );
}

/**
 * Why a domain is none that a Cluster may have for itself: a reservation of a single label, as top-level domains are, keeps all below
 * it from others of its project. The definition refuses such a domain, too; one that is older was written before it did. Pure.
 */
export function whyImproper(domain: string): Obstacle | undefined {
  const remedy = "make the ShootCluster anew with a domain such as one.example.com";
  const field = `spec.endpoint.domain is ${domain}`;
  if (!domain.includes("."))
    return { reason: INVALID, message: `${field}, a single label, as top-level domains are: ${remedy}` };
  if (asClusterEndpoint(endpointAt(domain)) !== undefined) return undefined;
  return { reason: INVALID, message: `${field}, below which no API server can have a name: ${remedy}` };
}

const INVALID = "DomainInvalid";

/** What an endpoint is provided with. */
export interface DomainDeps extends Providing {
  readonly garden: KubeClient;
  readonly world: { readonly [K in "controlPlanes" | "reservations" | "endpoints"]: Pick<World[K], "get"> };
}

/** Whose endpoint it is. */
export interface DomainPlace {
  readonly cluster: Cluster;
  readonly infrastructure: ShootCluster;
  readonly holder: Holder;
}

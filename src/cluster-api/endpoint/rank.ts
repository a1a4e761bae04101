import { refersTo, type Cluster, type ClusterEndpoint, type ContractReference } from "../../api/cluster-api/index.ts";
import { originOf } from "./generated.ts";

/** Whose word an endpoint is, those first that go before others; each as it is said of an object. */
export const ranks = {
  thirdParty: "of a third party",
  user: "generated from what a user wrote on the Cluster",
  infrastructure: "of the infrastructure",
  controlPlane: "of the control plane",
  provider: "generated from a provider's field",
} as const;

/** One of {@link ranks}. */
export type Rank = keyof typeof ranks;

/** What of a Cluster decides about ranks. */
export type Providers = Pick<Cluster["spec"], "infrastructureRef" | "controlPlaneRef">;

/** The rank of an object: by what it was generated from, else by who owns it. */
export function rankOf(endpoint: ClusterEndpoint, { infrastructureRef, controlPlaneRef }: Providers): Rank {
  const origin = originOf(endpoint);
  if (origin !== undefined) return origin;
  if (isOwnedBy(endpoint, infrastructureRef)) return "infrastructure";
  return isOwnedBy(endpoint, controlPlaneRef) ? "controlPlane" : "thirdParty";
}

function isOwnedBy({ metadata }: ClusterEndpoint, ref: ContractReference | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => refersTo(ref, owner) && owner.name === ref.name);
}

/** The objects in the order in which they win: by rank, then the oldest, then by name. No two are equal. */
export function inOrder(endpoints: readonly ClusterEndpoint[], providers: Providers): ClusterEndpoint[] {
  const order = Object.keys(ranks);
  const keyOf = (endpoint: ClusterEndpoint) => ({
    rank: order.indexOf(rankOf(endpoint, providers)),
    at: Date.parse(endpoint.metadata.creationTimestamp ?? "") || 0,
    name: endpoint.metadata.name,
    endpoint,
  });
  return endpoints
    .map(keyOf)
    .sort((a, b) => a.rank - b.rank || a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ endpoint }) => endpoint);
}

/** Why one object wins over another, in words. */
export function whyBefore(winner: ClusterEndpoint, loser: ClusterEndpoint, providers: Providers): string {
  const [rank, below] = [rankOf(winner, providers), rankOf(loser, providers)];
  if (rank !== below) return `an object ${ranks[rank]} goes before one ${ranks[below]}`;
  const isOlder = winner.metadata.creationTimestamp !== loser.metadata.creationTimestamp;
  return `of two objects ${ranks[rank]}, ${isOlder ? "the older" : "the first by name"} wins`;
}

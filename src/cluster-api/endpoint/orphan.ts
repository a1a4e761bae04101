import { apiGroupOf, Cluster, refersTo, type ClusterEndpoint } from "../../api/cluster-api/index.ts";
import type { ProviderReader } from "./provider-objects.ts";

/**
 * Whether an endpoint's owners have all gone, so that the garbage collector is about to take it: a Cluster that is made anew under its
 * old name finds such objects. Asks the API server only about an owner that the Cluster names; another's owner counts as there.
 */
export async function isOrphan(
  { metadata: { ownerReferences = [] } }: ClusterEndpoint,
  cluster: Cluster,
  providers: ProviderReader,
): Promise<boolean> {
  const others = ownerReferences.filter(({ uid }) => uid !== cluster.metadata.uid);
  if (others.length === 0 || others.length < ownerReferences.length) return false;
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  const own = { apiGroup: apiGroupOf(Cluster), kind: Cluster.kind, name: cluster.metadata.name };
  const named = [own, infrastructureRef, controlPlaneRef].filter((ref) => ref !== undefined);
  const isNamed = (owner: (typeof others)[number]) =>
    named.some((ref) => refersTo(ref, owner) && ref.name === owner.name);
  if (!others.every(isNamed)) return false;
  const { infrastructure, controlPlane } = await providers.read(cluster);
  const living = [infrastructure, controlPlane].map((one) => one?.metadata.uid);
  return !others.some(({ uid }) => living.includes(uid));
}

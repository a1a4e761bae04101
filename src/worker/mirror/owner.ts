import type { StateOwner } from "../../activities/state/store.ts";
import { EPOCH_ANNOTATION } from "../../api/annotations.ts";
import { Cluster, FIRST_EPOCH, Shoot } from "../../api/index.ts";
import { isForbidden, Namespace, type KubeClient } from "../../kube/index.ts";

/**
 * What a seed has to do with a Shoot's namespace: it leads the Shoot (`ours`), another seed or none does, the namespace
 * does not say yet which Shoot it is of, or the seed may not see that Shoot, or it is gone.
 */
export type Ownership =
  | { readonly is: "ours"; readonly owner: StateOwner; readonly shoot: Shoot }
  | { readonly is: "another's" | "unknown" | "gone"; readonly owner?: never; readonly shoot?: never };

/**
 * Finds whose a namespace is: by the Shoot in the garden, and not by what this seed knows of it. A namespace of another
 * epoch than the leader's is one that was left, or one that a flow has not taken up yet.
 */
export function createOwners({
  gardenClient,
  seedClient,
  seedName,
}: {
  gardenClient: KubeClient;
  seedClient: KubeClient;
  seedName: string;
}) {
  return async (name: string): Promise<Ownership> => {
    const [namespace, cluster] = await Promise.all([
      seedClient.read(Namespace, { name }),
      seedClient.read(Cluster, { name }),
    ]);
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return { is: "gone" };
    if (cluster === undefined) return { is: "unknown" };
    const { metadata } = cluster.spec.shoot;
    const { uid } = metadata;
    const shoot = await gardenClient
      .read(Shoot, { namespace: metadata.namespace, name: metadata.name })
      .catch(forbidden);
    if (shoot === "forbidden") return { is: "unknown" };
    if (shoot === undefined || uid === undefined || shoot.metadata.uid !== uid) return { is: "another's" };
    const epoch = Number(namespace.metadata.annotations?.[EPOCH_ANNOTATION] ?? FIRST_EPOCH);
    if (!isLed(shoot, seedName, epoch)) return { is: "another's" };
    return { is: "ours", owner: { namespace: metadata.namespace, name: metadata.name, uid, epoch }, shoot };
  };
}

/** The rights of a seed follow its Shoots a moment later, and end with them. */
function forbidden(error: unknown): "forbidden" {
  if (isForbidden(error)) return "forbidden";
  throw error;
}

/**
 * What a seed's controllers make until their leases are over is kept, too: the seed that has just lost the lead goes on
 * under its epoch, until the next leader's flow has claimed the ShootState.
 */
function isLed({ status = {} }: Shoot, seedName: string, epoch: number): boolean {
  const { seed: leader = status.seedName, epoch: leading = FIRST_EPOCH, previousSeed } = status.leadership ?? {};
  if (leader === seedName && epoch === leading) return true;
  return previousSeed === seedName && leader !== seedName && epoch < leading;
}

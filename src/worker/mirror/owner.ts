import type { StateOwner } from "../../activities/state/store.ts";
import { EPOCH_ANNOTATION } from "../../api/annotations.ts";
import { Cluster, Shoot } from "../../api/index.ts";
import { Namespace, type KubeClient } from "../../kube/index.ts";

/**
 * What a seed has to do with a Shoot's namespace: it leads the Shoot (`ours`), another seed or none does, the namespace
 * does not say yet which Shoot it is of, or it is gone.
 */
export type Ownership =
  | { readonly is: "ours"; readonly owner: StateOwner }
  | { readonly is: "another's" | "unknown" | "gone"; readonly owner?: never };

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
    const shoot = await gardenClient.read(Shoot, { namespace: metadata.namespace, name: metadata.name });
    const { uid } = metadata;
    if (shoot === undefined || uid === undefined || shoot.metadata.uid !== uid) return { is: "another's" };
    const epoch = Number(namespace.metadata.annotations?.[EPOCH_ANNOTATION] ?? FIRST_EPOCH);
    if (!isLed(shoot, seedName, epoch)) return { is: "another's" };
    return { is: "ours", owner: { namespace: metadata.namespace, name: metadata.name, uid, epoch } };
  };
}

const FIRST_EPOCH = 1;

function isLed({ status = {} }: Shoot, seedName: string, epoch: number): boolean {
  const { seed: leader = status.seedName, epoch: leading = FIRST_EPOCH } = status.leadership ?? {};
  return leader === seedName && epoch === leading;
}

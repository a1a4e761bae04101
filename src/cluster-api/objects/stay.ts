import { DELETE_FOR_MOVE_ANNOTATION, type Cluster } from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { dropFinalizer, refOf, unlessGone, type KubeClient } from "../../kube/index.ts";
import { isLeftToMove, isPaused } from "./paused.ts";
import { lostAnnotations } from "./remembered.ts";

/**
 * Takes the mark `delete-for-move` from objects of a Cluster that stay, and gives them back what it took the place of. A
 * `clusterctl move` that was killed while it deleted, and is repeated, copies it to the target with what it finds; there it would
 * keep this process off for ever. What is being deleted keeps it. The Cluster is read afresh: on the source it is paused before
 * anything is marked, so nothing there loses its mark.
 */
export async function keepWhatStays(
  management: KubeClient,
  cluster: Cluster,
  objects: readonly (KubeObject | undefined)[],
): Promise<void> {
  const marked = objects.filter((one) => one !== undefined).filter((one) => isLeftToMove(one) && isStaying(one));
  if (marked.length === 0 || isPaused(cluster)) return;
  const fresh = await management.read(refOf(cluster));
  if (fresh === undefined || fresh.metadata.uid !== cluster.metadata.uid || isPaused(fresh) || !isStaying(fresh))
    return;
  for (const one of marked) {
    const { uid, resourceVersion } = one.metadata;
    const annotations = { [DELETE_FOR_MOVE_ANNOTATION]: null, ...lostAnnotations(one) };
    const metadata = { uid, resourceVersion, annotations };
    await unlessGone(management.patch(refOf(one), { metadata }));
  }
}

/**
 * Lets an object go that `clusterctl move` has marked and deleted, and was killed before it took the finalizers: what is marked lives elsewhere.
 * A repeated move would copy its deletion onto the target, which refuses that. Nothing behind it is touched; while the Cluster is paused,
 * clusterctl is at work and does this itself.
 */
export async function letGoOfMoved(
  management: KubeClient,
  cluster: Cluster | undefined,
  object: KubeObject,
  finalizer: string,
): Promise<void> {
  if (isStaying(object) || !isLeftToMove(object) || (cluster !== undefined && isPaused(cluster))) return;
  await dropFinalizer(management, object, finalizer);
}

const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

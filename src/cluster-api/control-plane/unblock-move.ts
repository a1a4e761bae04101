import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import { PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { isOwn } from "../shoot/identity.ts";
import { findShoot } from "./find.ts";
import { isUnderWay } from "./note-shoot.ts";

/**
 * Lets `clusterctl move` go on once the Shoot of a paused control plane is neither being made nor moving, nor deleted: it pauses the
 * Cluster first and waits then. The garden itself is asked. Only removes the annotation, never sets it: who has paused a Cluster may
 * be past it.
 */
export async function unblockMove(
  { management, garden }: { readonly management: KubeClient; readonly garden: KubeClient },
  controlPlane: ShootControlPlane,
  cluster: string,
): Promise<void> {
  const { annotations = {}, labels = {}, deletionTimestamp } = controlPlane.metadata;
  if (!(BLOCK_MOVE_ANNOTATION in annotations) || deletionTimestamp !== undefined) return;
  const namespace = labels[PROJECT_NAMESPACE_LABEL];
  const found = namespace === undefined ? undefined : await findShoot(garden, controlPlane, { namespace, cluster });
  if (found !== undefined && isOwn(found, controlPlane) && isUnderWay(found)) return;
  const metadata = { uid: controlPlane.metadata.uid, annotations: { [BLOCK_MOVE_ANNOTATION]: null } };
  await management.patch(refOf(controlPlane), { metadata });
}

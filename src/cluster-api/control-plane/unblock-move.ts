import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import { PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { refOf } from "../../kube/index.ts";
import { isOwn } from "../shoot/identity.ts";
import { projectOf, type ProjectSource } from "../shoot/project.ts";
import { findShoot } from "./find.ts";
import { isUnderWay } from "./note-shoot.ts";

/**
 * Lets `clusterctl move` go on once the Shoot of a paused control plane is neither being made nor moving, nor deleted: it pauses the
 * Cluster first and waits then. The garden itself is asked, and only for a Shoot of the project that the namespace may use. Only
 * removes the annotation, never sets it: who has paused a Cluster may be past it.
 */
export async function unblockMove(
  deps: ProjectSource,
  controlPlane: ShootControlPlane,
  clusterName: string,
): Promise<void> {
  const { annotations = {}, deletionTimestamp, uid } = controlPlane.metadata;
  if (!(BLOCK_MOVE_ANNOTATION in annotations) || deletionTimestamp !== undefined) return;
  if (await mayBeUnderWay(deps, controlPlane, clusterName)) return;
  const metadata = { uid, annotations: { [BLOCK_MOVE_ANNOTATION]: null } };
  await deps.management.patch(refOf(controlPlane), { metadata });
}

/** A control plane that never had a project has no Shoot; of one that may not use it any more, nothing is known. */
async function mayBeUnderWay(deps: ProjectSource, controlPlane: ShootControlPlane, cluster: string): Promise<boolean> {
  if (controlPlane.metadata.labels?.[PROJECT_NAMESPACE_LABEL] === undefined) return false;
  const project = projectOf(deps, controlPlane);
  if ("obstacle" in project) return true;
  const found = await findShoot(deps.garden, controlPlane, { namespace: project.namespace, cluster });
  return found !== undefined && isOwn(found, controlPlane) && isUnderWay(found);
}

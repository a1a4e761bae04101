import type { ShootCluster } from "../../api/cluster-api/index.ts";
import { INFRASTRUCTURE_FINALIZER } from "../../api/names.ts";
import { dropFinalizer } from "../../kube/index.ts";
import type { Again } from "../again.ts";
import { waitDeleting, withWayOut } from "../objects/deleting.ts";
import { projectOf, type ProjectSource } from "../shoot/project.ts";
import { clusterNameOf, type World } from "../shoot/world.ts";
import { infrastructureId } from "./holder.ts";
import { releaseCredentials } from "./release-credentials.ts";
import { releaseDomain } from "./reservation.ts";

/**
 * Gives back what an infrastructure that is being deleted has in the garden, once its Cluster has no control plane any more: until
 * then a Shoot may need it. The domain goes last, and then the infrastructure is let go. What is another's stays untouched.
 */
export async function removeInfrastructure(
  deps: Removing,
  infrastructure: ShootCluster,
  clusterName: string,
): Promise<void | Again> {
  const { management, garden, world } = deps;
  if (infrastructure.metadata.finalizers?.includes(INFRASTRUCTURE_FINALIZER) !== true) return undefined;
  const project = projectOf(deps, infrastructure);
  if ("obstacle" in project)
    return await waitDeleting(management, infrastructure, withWayOut(project.obstacle, LEAVING));
  const users = world.controlPlanes
    .list(infrastructure.metadata.namespace)
    .filter((one) => clusterNameOf(one) === clusterName);
  if (users[0] !== undefined) {
    const message = `ShootControlPlane ${users[0].metadata.name} is there still`;
    return await waitDeleting(management, infrastructure, { reason: "WaitingForControlPlane", message });
  }
  const holder = {
    id: infrastructureId(infrastructure),
    shoot: { namespace: project.namespace, name: clusterName },
  };
  if (!(await releaseCredentials(garden, holder))) {
    const message = "its credentials in the garden are being deleted";
    return await waitDeleting(management, infrastructure, { reason: "WaitingForCredentials", message });
  }
  const { domain } = infrastructure.spec?.endpoint ?? {};
  if (domain !== undefined) await releaseDomain(garden, { domain, ...holder });
  return await dropFinalizer(management, infrastructure, INFRASTRUCTURE_FINALIZER);
}

/** What a deletion works with. */
export interface Removing extends ProjectSource {
  readonly world: ProjectSource["world"] & { readonly controlPlanes: Pick<World["controlPlanes"], "list"> };
}

const LEAVING = `To leave behind what it has in the garden, take away finalizer ${INFRASTRUCTURE_FINALIZER}`;

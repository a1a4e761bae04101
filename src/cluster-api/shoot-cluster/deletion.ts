import type { ShootCluster } from "../../api/cluster-api/index.ts";
import { INFRASTRUCTURE_FINALIZER } from "../../api/names.ts";
import { dropFinalizer, type KubeClient } from "../../kube/index.ts";
import { projectOf, type ProjectSource } from "../shoot/project.ts";
import { say } from "../shoot/say.ts";
import { clusterNameOf, type World } from "../shoot/world.ts";
import { infrastructureId } from "./identity.ts";
import { releaseDomain } from "./reservation.ts";

/** In ms: how soon is asked again for what no watch tells of. */
const RETRY_DELAY = 15_000;

/**
 * Gives back what an infrastructure that is being deleted has in the garden, once its Cluster has no control plane any more: until
 * then a Shoot may need it. The domain goes last, and then the infrastructure is let go. What is another's stays untouched.
 */
export async function removeInfrastructure(
  deps: Removing,
  infrastructure: ShootCluster,
  clusterName: string,
): Promise<void | { readonly requeueAfter: number }> {
  const { management, garden, world } = deps;
  if (infrastructure.metadata.finalizers?.includes(INFRASTRUCTURE_FINALIZER) !== true) return undefined;
  const project = projectOf(deps, infrastructure);
  if ("obstacle" in project) {
    const { reason, message } = project.obstacle;
    return await wait(management, infrastructure, { reason, message: `${message}. ${LEAVING}` });
  }
  const users = world.controlPlanes
    .list(infrastructure.metadata.namespace)
    .filter((one) => clusterNameOf(one) === clusterName);
  if (users[0] !== undefined) {
    const message = `ShootControlPlane ${users[0].metadata.name} is there still`;
    return await wait(management, infrastructure, { reason: "WaitingForControlPlane", message });
  }
  const holder = {
    id: infrastructureId(infrastructure),
    shoot: { namespace: project.namespace, name: clusterName },
  };
  const { domain } = infrastructure.spec?.endpoint ?? {};
  if (domain !== undefined) await releaseDomain(garden, { domain, ...holder });
  return await dropFinalizer(management, infrastructure, INFRASTRUCTURE_FINALIZER);
}

/** What a deletion works with. */
export interface Removing extends ProjectSource {
  readonly world: ProjectSource["world"] & { readonly controlPlanes: Pick<World["controlPlanes"], "list"> };
}

const LEAVING = `To leave behind what it has in the garden, take away finalizer ${INFRASTRUCTURE_FINALIZER}`;

async function wait(
  management: KubeClient,
  infrastructure: ShootCluster,
  { reason, message }: { readonly reason: string; readonly message: string },
): Promise<{ readonly requeueAfter: number }> {
  await say(management, infrastructure, [{ type: "Deleting", status: "True", reason, message }]);
  return { requeueAfter: RETRY_DELAY };
}

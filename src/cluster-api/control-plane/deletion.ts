import { CONFIRM_DELETION_ANNOTATION } from "../../api/annotations.ts";
import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../api/cluster-api/index.ts";
import type { Shoot } from "../../api/index.ts";
import { SHOOT_FINALIZER } from "../../api/names.ts";
import { describeMove, moveOf } from "../../api/placement/move.ts";
import { dropFinalizer, KubeError, refOf, unlessGone, type KubeClient } from "../../kube/index.ts";
import type { Again } from "../again.ts";
import { sayDeleting, waitDeleting, withWayOut } from "../objects/deleting.ts";
import { idOf } from "../shoot/identity.ts";
import { projectOf, type ProjectSource } from "../shoot/project.ts";
import type { World } from "../shoot/world.ts";
import type { ShootWriter } from "../shoot/write.ts";
import { findOwnShoot } from "./find.ts";

/**
 * Deletes the Shoot of a control plane that is being deleted, or lets go of it, as its policy says; and lets the control plane go
 * once that is done. One that moves to another Seed is deleted after it has arrived. A Shoot that is not its own stays untouched, and
 * so does that of which it is a copy, and every one outside of the project that its namespace may use: while that is not known, or
 * is another than at first, the control plane stays and says why.
 */
export async function removeShoot(
  deps: Deleting,
  controlPlane: ShootControlPlane,
  clusterName: string,
): Promise<void | Again> {
  const { management, garden, writer } = deps;
  const project = projectOf(deps, controlPlane);
  if ("obstacle" in project) return await waitDeleting(management, controlPlane, withWayOut(project.obstacle, LEAVING));
  if (isCopied(deps, controlPlane, project.namespace))
    return await dropFinalizer(management, controlPlane, SHOOT_FINALIZER);
  const shoot = await findOwnShoot(garden, controlPlane, { namespace: project.namespace, cluster: clusterName });
  if (shoot === undefined) return await dropFinalizer(management, controlPlane, SHOOT_FINALIZER);
  if (policyOf(controlPlane) === "Orphan") {
    await writer.release(shoot);
    return await dropFinalizer(management, controlPlane, SHOOT_FINALIZER);
  }
  const { namespace, name } = shoot.metadata;
  const move = moveOf(shoot);
  if (move.is !== "settled") {
    const message = describeMove(shoot.metadata, move);
    return await waitDeleting(management, controlPlane, { reason: "ShootMoving", message });
  }
  await holdMove(management, controlPlane);
  try {
    await askToDelete(garden, shoot);
    const message = `Shoot ${namespace}/${name} is being deleted`;
    return await sayDeleting(management, controlPlane, { reason: "WaitingForShoot", message });
  } catch (error) {
    if (!(error instanceof KubeError) || error.retryable) throw error;
    return await waitDeleting(management, controlPlane, { reason: "Refused", message: error.message });
  }
}

/**
 * Whether this is a copy of another control plane, labels and all, as `kubectl get -o yaml` and `apply` make one: the Shoot is the
 * other's. The one whose uid the identity is, is the first, whatever project it may use now; after `clusterctl move` none is, and of several none deletes. One that
 * may not use the project has no Shoot there, so what its users write into its labels keeps no Shoot.
 */
function isCopied(deps: Deleting, controlPlane: ShootControlPlane, project: string): boolean {
  const { uid } = controlPlane.metadata;
  const id = idOf(controlPlane);
  if (id === undefined || id === uid) return false;
  const others = deps.world.controlPlanesById(id).filter((one) => one.metadata.uid !== uid);
  return others.some((one) => one.metadata.uid === id || mayUse(deps, one, project));
}

function mayUse(deps: Deleting, controlPlane: ShootControlPlane, project: string): boolean {
  const found = projectOf(deps, controlPlane);
  return "namespace" in found && found.namespace === project;
}

const LEAVING = `To leave the Shoot as it is, take away finalizer ${SHOOT_FINALIZER}`;

/** A control plane that `clusterctl move` took away now would live on elsewhere, with a Shoot that goes. */
async function holdMove(management: KubeClient, controlPlane: ShootControlPlane): Promise<void> {
  const { annotations = {}, uid } = controlPlane.metadata;
  if (BLOCK_MOVE_ANNOTATION in annotations) return;
  const metadata = { uid, annotations: { [BLOCK_MOVE_ANNOTATION]: "true" } };
  await unlessGone(management.patch(refOf(controlPlane), { metadata }));
}

/** What a deletion works with. */
export interface Deleting extends ProjectSource {
  readonly world: ProjectSource["world"] & Pick<World, "controlPlanesById">;
  readonly writer: Pick<ShootWriter, "release">;
}

/** An adopted Shoot stays and one that was made goes, unless the control plane says otherwise. */
const policyOf = ({ spec }: ShootControlPlane): "Delete" | "Orphan" =>
  spec.deletionPolicy ?? (spec.shootRef === undefined ? "Delete" : "Orphan");

/** Once: a deletion that is under way is left alone. */
async function askToDelete(garden: KubeClient, shoot: Shoot): Promise<void> {
  const { deletionTimestamp, uid } = shoot.metadata;
  if (deletionTimestamp !== undefined) return;
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true" };
  await unlessGone(garden.patch(refOf(shoot), { metadata: { uid, annotations } }));
  try {
    await garden.remove(refOf(shoot), uid === undefined ? {} : { uid });
  } catch (error) {
    // A deletion that is refused leaves no door open for the next.
    const before = shoot.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] ?? null;
    const reset = { metadata: { uid, annotations: { [CONFIRM_DELETION_ANNOTATION]: before } } };
    await garden.patch(refOf(shoot), reset).catch(() => undefined);
    throw error;
  }
}

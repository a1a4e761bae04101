import { HANDOVER_ANNOTATION, HANDOVER_RENEWED_ANNOTATION, SHOOT_UID_ANNOTATION } from "../api/annotations.ts";
import { Cluster, Shoot, type KubeObject } from "../api/index.ts";
import { moveOf, neededSource } from "../api/placement/move.ts";
import { isConflict, now, refOf, unlessForbidden, unlessGone } from "../kube/index.ts";
import { createRounds, type RoundsDeps } from "./rounds.ts";

/**
 * Renews what planned migrations have announced in this seed, for as long as the garden says that they still need it as
 * their source. A worker that cannot see the Shoot renews nothing, nor does one whose seed was restored from a backup after
 * the Shoot had arrived elsewhere: the seed's fence then stops what no flow will stop.
 */
export function createHandovers(deps: Omit<RoundsDeps, "shootClients">) {
  const { gardenClient, seedClient, seedName } = deps;

  /** The Shoot whose namespace this is, by what a flow has written into the Cluster. */
  const findShoot = async (namespace: KubeObject): Promise<Shoot | undefined> => {
    const cluster = await seedClient.read(Cluster, { name: namespace.metadata.name });
    if (cluster === undefined) return undefined;
    const { namespace: project, name, uid } = cluster.spec.shoot.metadata;
    const shoot = await gardenClient.read(Shoot, { namespace: project, name }).catch(unlessForbidden);
    const known = namespace.metadata.annotations?.[SHOOT_UID_ANNOTATION] ?? uid;
    return shoot !== undefined && shoot.metadata.uid === known ? shoot : undefined;
  };

  const visit = async (_name: string, _before: undefined, namespace: KubeObject): Promise<undefined> => {
    const { annotations = {}, deletionTimestamp, resourceVersion } = namespace.metadata;
    const announced = annotations[HANDOVER_ANNOTATION];
    if (announced === undefined || deletionTimestamp !== undefined) return;
    const shoot = await findShoot(namespace);
    if (shoot === undefined || !isHandedOver(shoot, Number(announced), seedName)) return;
    // Without an epoch: the next leader's flow may have raised the namespace's already.
    const metadata = { resourceVersion, annotations: { [HANDOVER_RENEWED_ANNOTATION]: now() } };
    await unlessGone(seedClient.patch(refOf(namespace), { metadata }).catch(unlessChanged));
  };

  return createRounds<undefined>(deps, { visit, failure: "cannot renew the announcement of a handover" });
}

/** Whether the move to this epoch goes on and needs its source, which is this seed. A takeover asks nothing of it. */
function isHandedOver(shoot: Shoot, announced: number, seedName: string): boolean {
  const move = moveOf(shoot);
  if (neededSource(move) !== seedName || shoot.status?.leadership === undefined) return false;
  const { epoch } = shoot.status.leadership;
  return announced === (move.is === "leaving" ? epoch + 1 : epoch);
}

/** Another client was first: the next round is soon enough. */
function unlessChanged(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}

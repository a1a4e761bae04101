import { CORRECTED_EPOCH_ANNOTATION, EPOCH_ANNOTATION, STATE_FINAL_ANNOTATION } from "../../api/annotations.ts";
import { ShootState } from "../../api/index.ts";
import { refTo, type KubeClient } from "../../kube/index.ts";
import { epochOf, readHead, type StateName } from "./parts.ts";
import { requireOwn } from "./ring-store.ts";

/**
 * Takes back an epoch of a ShootState that its Shoot has not reached: a seed that led has written it, and each later leader would be
 * refused. `leading` reads the Shoot's epoch. It is read after the state, because a Shoot's status names an epoch before its leader
 * writes under it. The policy of deploy/garden/fencing.yaml lets no seed do this.
 */
export async function correctEpoch(
  gardenClient: KubeClient,
  state: StateName & { readonly uid: string },
  leading: () => Promise<number>,
): Promise<void> {
  const head = await readHead(gardenClient, state);
  const written = head?.metadata.annotations?.[EPOCH_ANNOTATION];
  if (head === undefined || written === undefined) return;
  requireOwn(state, head);
  const epoch = await leading();
  if (epochOf(head) <= epoch) return;
  const { namespace, name, resourceVersion } = head.metadata;
  const annotations = {
    [EPOCH_ANNOTATION]: String(epoch),
    [CORRECTED_EPOCH_ANNOTATION]: written,
    [STATE_FINAL_ANNOTATION]: null, // nor is it known who has said the last word
  };
  await gardenClient.patch(refTo(ShootState, { namespace, name }), { metadata: { resourceVersion, annotations } });
}

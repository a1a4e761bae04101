import {
  DATA_KEYS_ANNOTATION,
  EPOCH_ANNOTATION,
  STATE_FINAL_ANNOTATION,
  STATE_KEY_ANNOTATION,
} from "../../api/annotations.ts";
import { ShootState } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { isConflict, refTo, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import { Superseded } from "../superseded.ts";
import { epochOf, readHead, shootUidOf } from "./parts.ts";
import { holdersOf, isSameRing, parseRing, type Ring } from "./ring.ts";

type StateOwner = Pick<ShootRun, "namespace" | "name" | "uid" | "epoch">;

/**
 * Changes who can open a Shoot's state, and nothing of the state; from then on, no earlier epoch writes it. Does nothing
 * where there is none, and waits for that of an earlier Shoot to go. One compare-and-swap: called again after another write in between.
 */
export async function changeRing(
  gardenClient: KubeClient,
  owner: StateOwner,
  change: (ring: Ring) => Promise<Ring>,
): Promise<void> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const head = await readHead(gardenClient, owner);
    if (head === undefined) return;
    requireOwn(owner, head);
    requireCurrent(owner, head);
    const before = ringOf(head);
    const after = await change(before);
    if (isSameRing(before, after) && epochOf(head) === owner.epoch) return;
    const begins = epochOf(head) < owner.epoch; // and has not said its last yet, whatever was written before
    const annotations = {
      ...ringAnnotations(after),
      [EPOCH_ANNOTATION]: String(owner.epoch),
      ...(begins && { [STATE_FINAL_ANNOTATION]: null }),
    };
    const { namespace, name, resourceVersion } = head.metadata;
    try {
      await gardenClient.patch(refTo(ShootState, { namespace, name }), { metadata: { resourceVersion, annotations } });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  throw new StepError(`cannot write ShootState ${owner.namespace}/${owner.name}: others keep changing it`);
}

/** The data keys of a ShootState. Throws where a text is there that no worker wrote. */
export function ringOf({ metadata: { namespace, name, annotations } }: ShootState): Ring {
  const ring = parseRing(annotations?.[DATA_KEYS_ANNOTATION]);
  if (ring !== undefined) return ring;
  throw new StepError(
    `cannot read ShootState ${namespace}/${name}: ${DATA_KEYS_ANNOTATION} is not what a worker wrote`,
  );
}

/** The annotations that hold a ring, and say in the clear which keys open it. */
export const ringAnnotations = (ring: Ring): Record<string, string> => ({
  [STATE_KEY_ANNOTATION]: holdersOf(ring).join(","),
  ...(Object.keys(ring).length > 0 && { [DATA_KEYS_ANNOTATION]: JSON.stringify(ring) }),
});

/** Throws when the ShootState is that of an earlier Shoot of that name, which is the only copy of that Shoot's authorities. */
export function requireOwn({ namespace, name, uid }: Omit<StateOwner, "epoch">, head: ShootState): void {
  const owner = shootUidOf(head) ?? uid;
  if (owner === uid) return;
  throw new StepError(
    `ShootState ${namespace}/${name} belongs to an earlier Shoot of this name, with uid ${owner}, of which something may be left in a seed: see docs/runbooks/shoot-state-in-the-way.md; the Shoot goes on when the ShootState is gone`,
  );
}

/** Throws {@link Superseded} once a later epoch has written. */
export function requireCurrent(
  { namespace, name, epoch }: StateOwner,
  head: ShootState | undefined,
  verb = "write",
): void {
  if (head === undefined || epochOf(head) <= epoch) return;
  throw new Superseded(
    `cannot ${verb} ShootState ${namespace}/${name}: it is fenced: epoch ${epochOf(head)} leads, and this is of epoch ${epoch}`,
  );
}

const MOST_ATTEMPTS = 8;

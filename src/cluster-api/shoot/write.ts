import { COMPOSED_ANNOTATION } from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../api/labels.ts";
import { describeMove, moveOf } from "../../api/placement/move.ts";
import { refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { covers } from "../objects/covers.ts";
import { COMPOSER, CREATOR } from "../objects/field-managers.ts";
import { isRefusal, type Obstacle } from "../objects/obstacle.ts";
import type { Composed } from "./compose.ts";
import { bearsId } from "./identity.ts";
import { dropOwnership, releaseCreation } from "./ownership.ts";

/** How a Shoot stands to what is composed: it says so, it was refused, or it cannot be written now. */
export type Written = { readonly shoot: Shoot } | { readonly obstacle: Obstacle; readonly shoot?: Shoot };

/** The only writer of Shoots in this process. */
export interface ShootWriter {
  /** The Shoot says what is composed, unless it moves, or is another's, or admission refuses it; then nothing is written. */
  write(composed: Composed, present: Shoot | undefined, beginning: Beginning): Promise<Written>;
  /** The Shoot stays as it is and belongs to no control plane any more. */
  release(shoot: Shoot): Promise<void>;
}

/** How a Shoot becomes a control plane's. */
export interface Beginning {
  /** The Seed that one which is made begins on; undefined where the scheduler chooses. */
  readonly seedName?: string;
  /** One that is there, and belongs to no control plane, is taken. */
  readonly adopts: boolean;
}

/** A writer for the Shoots of a garden; it asks nothing where a Shoot says already what it should. */
export function createShootWriter(garden: KubeClient): ShootWriter {
  /** Made without the hash of what is composed: where the process dies before the composer owns that, the Shoot is not as it should be. */
  async function create(composed: Composed, seedName: string | undefined): Promise<Shoot> {
    const { [COMPOSED_ANNOTATION]: _, ...annotations } = composed.metadata.annotations ?? {};
    const spec = { ...composed.spec, ...omitUndefined({ seedName }) };
    const metadata = { ...composed.metadata, annotations };
    const made = await garden.create({ ...composed, metadata, spec }, { fieldManager: CREATOR });
    return await settle(made as unknown as Shoot, composed);
  }

  /** Takes over from the creator, so that a row that is not composed any more goes; and never makes a Shoot that has just gone. */
  async function settle(found: Shoot, composed: Composed): Promise<Shoot> {
    const shoot = await releaseCreation(garden, found);
    const metadata = { ...composed.metadata, uid: shoot.metadata.uid ?? "" };
    return (await garden.apply({ ...composed, metadata }, { fieldManager: COMPOSER })) as unknown as Shoot;
  }

  return {
    async write(composed, present, { seedName, adopts }) {
      try {
        if (present === undefined) return { shoot: await create(composed, seedName) };
        const strange = whyNotOurs(present, composed, adopts);
        if (strange !== undefined) return { obstacle: strange };
        if (saysSo(present, composed)) return { shoot: present };
        const held = whyNotNow(present);
        if (held !== undefined) return { obstacle: held, shoot: present };
        const fresh = await garden.read(refOf(present));
        if (fresh === undefined) return { obstacle: gone(present) };
        const late = whyNotOurs(fresh, composed, adopts) ?? whyNotNow(fresh);
        if (late !== undefined) return { obstacle: late, shoot: fresh };
        return { shoot: await settle(await claim(garden, fresh, composed), composed) };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const refused: Obstacle = { reason: "Refused", message: error.message };
        return { obstacle: refused, ...(present && isClaimed(present, composed) && { shoot: present }) };
      }
    },

    async release(shoot) {
      await dropOwnership(garden, shoot);
    },
  };
}

/**
 * Makes an adopted Shoot ours, unless it has changed since it was read: of two that adopt it, one loses. What admission refuses is
 * not claimed either: the Shoot stays as it was.
 */
async function claim(garden: KubeClient, shoot: Shoot, composed: Composed): Promise<Shoot> {
  if (shoot.metadata.labels?.[CONTROL_PLANE_ID_LABEL] !== undefined) return shoot;
  const { namespace, name, uid = "", resourceVersion } = shoot.metadata;
  const { labels = {} } = composed.metadata;
  await garden.apply(
    { ...composed, metadata: { ...composed.metadata, uid } },
    { fieldManager: COMPOSER, dryRun: true },
  );
  const label = { [CONTROL_PLANE_ID_LABEL]: labels[CONTROL_PLANE_ID_LABEL] };
  return await garden.patch(refTo(Shoot, { namespace, name }), { metadata: { resourceVersion, labels: label } });
}

/** Whose the Shoot is, if it is not ours: another control plane's, or a user's own. */
function whyNotOurs(shoot: Shoot, { metadata }: Composed, adopts: boolean): Obstacle | undefined {
  const theirs = shoot.metadata.labels?.[CONTROL_PLANE_ID_LABEL];
  if (bearsId(shoot, metadata.labels?.[CONTROL_PLANE_ID_LABEL]) || (theirs === undefined && adopts)) return undefined;
  const { namespace, name } = shoot.metadata;
  const message =
    theirs === undefined
      ? `Shoot ${namespace}/${name} exists and is no Cluster's: name it in spec.shootRef to adopt it, or name the Cluster otherwise`
      : `Shoot ${namespace}/${name} belongs to another Cluster`;
  return { reason: "ShootTaken", message };
}

const isClaimed = (shoot: Shoot, composed: Composed): boolean => whyNotOurs(shoot, composed, false) === undefined;

/** Why a Shoot that is ours is not to be changed now. */
function whyNotNow(shoot: Shoot): Obstacle | undefined {
  const { namespace, name, deletionTimestamp } = shoot.metadata;
  if (deletionTimestamp !== undefined)
    return { reason: "ShootDeleting", message: `Shoot ${namespace}/${name} is being deleted` };
  const move = moveOf(shoot);
  return move.is === "settled" ? undefined : { reason: "ShootMoving", message: describeMove(shoot.metadata, move) };
}

/** Whether the Shoot says all that is composed, and the hash of that: nothing that was composed before is left in it. */
function saysSo(present: Shoot, { metadata, spec }: Composed): boolean {
  const { labels, annotations } = metadata;
  return covers(present.metadata, { labels, annotations }) && covers(present.spec, spec);
}

const gone = ({ metadata: { namespace, name } }: Shoot): Obstacle => ({
  reason: "ShootMissing",
  message: `Shoot ${namespace}/${name} has gone`,
});

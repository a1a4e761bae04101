import { FIRST_EPOCH, Seed, type Shoot } from "../../api/index.ts";
import type { PublicStateKey } from "../../api/core/state-key.ts";
import { moveOf } from "../../api/placement/move.ts";
import type { ShootRef } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import { readShoot } from "../shoot/patch.ts";
import { Superseded } from "../superseded.ts";
import { correctEpoch } from "./epoch-correction.ts";
import type { StateKey } from "./keys.ts";
import { openRing, wrapForAll, type Ring } from "./ring.ts";
import { changeRing } from "./ring-store.ts";
import type { StateOwner } from "./store.ts";

/** `keys` are the garden's own, the current one first, read anew each time. */
export interface StateSharingDeps {
  readonly gardenClient: KubeClient;
  readonly keys: () => Promise<readonly StateKey[]>;
}

/**
 * Lets the seeds that need a Shoot's state open it, and takes that from those that do not any more. Which seeds these are
 * says the Shoot, and not the caller: the one that leads and, while the Shoot is about to go there, its destination. It asks
 * nothing of any seed, so that the source may be dead, and opens no content, only data keys. An epoch that a seed has written and the
 * Shoot has not reached is taken back first.
 */
export function createStateSharing({ gardenClient, keys }: StateSharingDeps) {
  return async (run: ShootRef): Promise<void> => {
    const read = async () => {
      const shoot = await readShoot(gardenClient, run);
      if (shoot !== undefined) return shoot;
      throw new Superseded(`cannot share ShootState ${run.namespace}/${run.name}: its Shoot is gone`);
    };
    await correctEpoch(gardenClient, run, async () => epochIn(await read()));
    const shoot = await read();
    const move = moveOf(shoot);
    const seed = move.is === "leaving" ? move.destination : move.leader;
    if (seed === undefined) return;
    const { namespace, name, uid } = run;
    const owner: StateOwner = { namespace, name, uid, epoch: epochIn(shoot) };
    await changeRing(gardenClient, owner, async (ring) => {
      const recipient = await readSeedKey(gardenClient, seed);
      return share(ring, owner, { own: await keys(), recipient, seed, staying: move.is === "leaving" });
    });
  };
}

const epochIn = ({ status }: Shoot): number => status?.leadership?.epoch ?? FIRST_EPOCH;

interface Sharing {
  readonly own: readonly StateKey[];
  readonly recipient: PublicStateKey;
  readonly seed: string;
  /** The seed that leads keeps what it has; otherwise the recipient and the garden are all that are left. */
  readonly staying: boolean;
}

async function share(ring: Ring, { namespace, name, uid }: StateOwner, o: Sharing): Promise<Ring> {
  const opened = await openRing(ring, uid, o.own);
  const [current] = o.own;
  if (current === undefined) throw new Error("cannot share ShootStates: the garden has no key");
  const wanted = [o.recipient, current.publicKey];
  const gardens = new Set(o.own.map(({ id }) => id));
  const shared = Object.entries(ring).map(async ([id, wraps]) => {
    const missing = wanted.filter(({ kid }) => !Object.hasOwn(wraps, kid));
    const kept = Object.entries(wraps).filter(
      ([kid]) => wanted.some((one) => one.kid === kid) || (o.staying && !gardens.has(kid)),
    );
    const key = opened.get(id);
    if (missing.length > 0 && key === undefined)
      throw new StepError(
        `cannot share ShootState ${namespace}/${name} with Seed ${o.seed}: data key ${id} is wrapped for ${Object.keys(wraps).join(", ")}, and none of the garden's keys (${[...gardens].join(", ")}) is among them`,
      );
    return [id, { ...Object.fromEntries(kept), ...(key && (await wrapForAll(key, uid, missing))) }] as const;
  });
  return Object.fromEntries(await Promise.all(shared));
}

async function readSeedKey(gardenClient: KubeClient, name: string): Promise<PublicStateKey> {
  const seed = await gardenClient.read(Seed, { name });
  if (seed?.status?.stateKey !== undefined) return seed.status.stateKey;
  throw new StepError(
    `cannot share a ShootState with Seed ${name}: it has published no key in its status; see whether its worker runs`,
  );
}

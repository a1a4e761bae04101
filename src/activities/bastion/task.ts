import { GARDENER_FINALIZER, type Shoot, type ShootBastion } from "../../api/index.ts";
import { describeMove, moveOf } from "../../api/placement/move.ts";
import { isToldReady } from "./news.ts";

/** A Bastion of the garden, and what its Shoot and its Seed are now. */
export interface BastionFacts {
  readonly bastion: ShootBastion;
  /** Undefined when it is gone, or another has taken its name. */
  readonly shoot: Shoot | undefined;
  /** The Seed that the Bastion names is in the garden. */
  readonly seedExists: boolean;
  /** What stands against acting for the Shoot at all, or extensions that are missing. */
  readonly obstacle: string | undefined;
}

/** What is to be done for a Bastion, and why where that is not to act in its seed; null when there is nothing to do. */
export type Decision =
  { readonly is: "apply" | "remove" } | { readonly is: "release" | "wait"; readonly why: string } | null;

/**
 * What is to be done for a Bastion now. Its seed acts only while it leads the Shoot, and a deletion waits for no seed that
 * could not act any more: what a seed has kept that leads no more, goes with what else of the Shoot it has kept. Pure.
 */
export function decideTask(facts: BastionFacts): Decision {
  return facts.bastion.metadata.deletionTimestamp === undefined ? decideMaking(facts) : decideEnd(facts);
}

function decideMaking({ bastion, shoot, seedExists, obstacle }: BastionFacts): Decision {
  const wait = (why: string): Decision => ({ is: "wait", why });
  const { spec } = bastion;
  if (shoot === undefined) return wait("its Shoot is gone");
  if (shoot.metadata.deletionTimestamp !== undefined) return wait("its Shoot is being deleted");
  if (spec.seedName === undefined || spec.providerType === undefined)
    return wait("it says neither Seed nor provider: the garden's admission fills them in");
  if (!seedExists) return wait(`there is no Seed ${spec.seedName}`);
  const move = moveOf(shoot);
  if (move.is !== "settled") return wait(describeMove(shoot.metadata, move));
  if (move.leader === undefined) return wait("its Shoot has not been created yet");
  if (move.leader !== spec.seedName) return wait(noLeader(spec.seedName));
  if (obstacle === undefined) return { is: "apply" };
  return isToldReady(bastion) ? null : wait(obstacle); // it works on, while its controller is replaced
}

function decideEnd({ bastion: { metadata, spec }, shoot, seedExists, obstacle }: BastionFacts): Decision {
  const release = (why: string): Decision => ({ is: "release", why });
  if (!(metadata.finalizers ?? []).includes(GARDENER_FINALIZER)) return null;
  if (shoot === undefined) return release("its Shoot is gone, and what it had with it");
  if (spec.seedName === undefined) return release("it never had a Seed");
  if (!seedExists) return release(`Seed ${spec.seedName} is not in the garden any more`);
  if (moveOf(shoot).leader !== spec.seedName) return release(noLeader(spec.seedName));
  return obstacle === undefined ? { is: "remove" } : { is: "wait", why: obstacle };
}

const noLeader = (seedName: string): string => `Seed ${seedName} does not lead its Shoot`;

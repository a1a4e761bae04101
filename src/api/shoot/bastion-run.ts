import type { ShootRun } from "./run.ts";

/** Names a Bastion of the garden for good: the uid tells it from a later one of the same name. */
export interface BastionRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The facts by which a seed acts for a Bastion. Read anew each time that something is done for it. Times are ms. */
export interface BastionRun extends BastionRef {
  /** The generation of the Bastion that is acted on. */
  readonly generation: number;
  /** The Shoot, as far as it says in whose name, under which epoch and where is written. */
  readonly shoot: BastionShoot;
  /** The seed that leads the Shoot. */
  readonly seedName: string;
  /** How long the seed's worker may leave a request unanswered before the Bastion says so. */
  readonly seedDeadline: number;
  /** How long its controller is waited for before it is looked whether it has to be asked anew. */
  readonly lookDeadline: number;
}

/** What of a Shoot's facts an extension Bastion is written with. */
export type BastionShoot = Pick<
  ShootRun,
  "namespace" | "name" | "uid" | "technicalID" | "seedName" | "epoch" | "leaseSeconds" | "leadershipRecord" | "forced"
>;

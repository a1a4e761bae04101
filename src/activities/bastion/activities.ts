import type { Bastion } from "../../api/index.ts";
import type { BastionRef, BastionRun } from "../../api/shoot/bastion-run.ts";

/** What is to be done for a Bastion now. */
export type BastionTask =
  | { readonly is: "apply"; readonly run: BastionRun }
  | { readonly is: "remove"; readonly run: BastionRun }
  /** Nothing of it is in a seed that could be asked to take it away: it may go. */
  | { readonly is: "release"; readonly why: string }
  /** It cannot be made yet. */
  | { readonly is: "wait"; readonly why: string };

/** How an extension Bastion stands to what was asked of its controller. */
export type BastionSight =
  | { readonly ready: true; readonly ingress?: Ingress | undefined }
  | { readonly ready: false; readonly message: string; readonly codes: readonly string[] };

/** Where a bastion is reached. */
export type Ingress = NonNullable<NonNullable<Bastion["status"]>["ingress"]>;

/** What the garden's Bastion is told of itself. */
export type BastionNews =
  | { readonly is: "making" }
  | { readonly is: "ready"; readonly ingress?: Ingress | undefined }
  | { readonly is: "failed"; readonly message: string; readonly codes?: readonly string[] }
  | { readonly is: "deleting" };

/** The activities of queue `garden` for Bastions. Each is safe to repeat. */
export interface BastionGardenActivities {
  /** What is to be done for the Bastion; null when it is gone, or nothing of it was ever made. */
  readBastion(ref: BastionRef): Promise<BastionTask | null>;
  /** Keeps the Bastion from going before what a seed makes for it; says that it is being made, where it is new. */
  holdBastion(run: BastionRun): Promise<void>;
  /** Writes into the Bastion how it is, and for which generation, where that was acted on. */
  tellBastion(ref: BastionRef | BastionRun, news: BastionNews): Promise<void>;
  /** Lets a Bastion go of which nothing is left. */
  releaseBastion(ref: BastionRef): Promise<void>;
}

/** The activities of queue `seed-<name>` for Bastions. Each is safe to repeat. */
export interface BastionSeedActivities {
  /** Applies the extension Bastion, and answers with the id of what its controller was asked for last. */
  applyBastion(run: BastionRun): Promise<string>;
  /**
   * Returns when the extension Bastion is ready for that request, or says other than what was `told`: an error, or what is
   * missing a minute after the request and after `since`, ms since the epoch, when it was first looked. Throws until then.
   */
  lookAtBastion(run: BastionRun, timestamp: string, told?: string, since?: number): Promise<BastionSight>;
  /** Has the extension Bastion's controller take it away. */
  removeBastion(run: BastionRun): Promise<void>;
  /** Throws what is left of the extension Bastion until it is gone. */
  confirmBastionRemoved(run: BastionRun): Promise<void>;
}

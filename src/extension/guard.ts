import type { Cluster, OperationType } from "../api/index.ts";
import type { ExtensionObject } from "./extension-object.ts";

/** Allows or refuses each operation, and can stop one that runs: the place for a check of who may act for a Shoot. */
export interface Guard {
  /** Resolves when the operation may begin; throws an OperationRefused when it may not. Called before anything is written. */
  enter(operation: GuardedOperation): Promise<Permit>;
}

/** What a guard decides on. */
export interface GuardedOperation {
  readonly object: ExtensionObject;
  readonly cluster: Cluster | undefined;
  readonly type: OperationType;
}

/** The leave to act, as long as `signal` has not aborted; given back with `release` when the operation is over, however it ended. */
export interface Permit {
  readonly signal: AbortSignal;
  /** Throws when the operation may not go on, as of this moment: after a pause of the process the signal may abort late. */
  check(): void;
  release(): void;
}

/** The guard that allows everything. */
export const openGuard: Guard = {
  async enter() {
    return { signal: new AbortController().signal, check: () => undefined, release: () => undefined };
  },
};

/** Allows what all of these guards allow, which it asks one after the other; the permit ends with the first one of theirs. */
export function combineGuards(...guards: readonly Guard[]): Guard {
  return {
    async enter(operation) {
      const permits: Permit[] = [];
      const release = () => permits.forEach((permit) => permit.release());
      try {
        for (const guard of guards) permits.push(await guard.enter(operation));
      } catch (refused) {
        release();
        throw refused;
      }
      const signal = AbortSignal.any(permits.map((permit) => permit.signal));
      return { signal, check: () => permits.forEach((permit) => permit.check()), release };
    },
  };
}

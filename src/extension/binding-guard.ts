import type { BindingMemory } from "../binding/memory.ts";
import { inWords, refOf } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { errorMessage, OperationRefused } from "./errors.ts";
import type { Guard } from "./guard.ts";
import { monotonicClock, type Clock } from "./lease.ts";

/** How the guard reads the cluster's bindings; the clocks are the process's own unless a test passes others. */
export interface BindingGuardOptions {
  /** The bindings that the cluster of the objects remembers; none where Perennial has bound nothing. */
  readonly read: () => Promise<readonly BindingMemory[]>;
  readonly log: Logger;
  readonly clock?: Clock;
  /** In ms since the epoch. */
  readonly wallClock?: () => number;
}

/**
 * Refuses operations in a restored copy of a cluster: one whose worker has found that the garden names a later turn, and, while
 * this process has not seen any, one whose last confirmation is older than five minutes, as in a cluster that has just been
 * restored. A process that has seen a confirmation needs no other: the garden may be away for as long as it likes.
 */
export function createBindingGuard({ read, log, clock = monotonicClock, wallClock = Date.now }: BindingGuardOptions): Guard {
  let confirmed = false;

  /** Throws `OperationRefused` where this cluster may not act. */
  const require = async (who: string): Promise<void> => {
    const memories = await read();
    const acting = memories.filter(({ refused }) => refused === undefined);
    if (memories.length > 0 && acting.length === 0)
      throw new OperationRefused(`cannot act for ${who}: ${memories.map(({ refused }) => refused).join("; ")}`);
    confirmed ||= acting.some(({ confirmedAt = "" }) => wallClock() - Date.parse(confirmedAt) < FRESH);
    if (memories.length > 0 && !confirmed)
      throw new OperationRefused(
        `cannot act for ${who}: this cluster may be a restored copy, as its worker has not confirmed its binding since ${latestOf(acting)}; the worker has to reach the garden first`,
      );
  };

  return {
    async enter({ object }) {
      const who = inWords(refOf(object));
      try {
        await require(who);
      } catch (error) {
        if (error instanceof OperationRefused) throw error;
        throw new OperationRefused(`cannot act for ${who}: ${errorMessage(error)}`, { cause: error });
      }
      const [over, released] = [new AbortController(), new AbortController()];
      const watch = async () => {
        for (;;) {
          await clock.sleep(PERIOD, released.signal);
          if (released.signal.aborted) return;
          const refused = await require(who).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (refused instanceof OperationRefused) {
            log.warn({ object: who, err: refused }, "binding lost");
            return over.abort(refused);
          }
        }
      };
      void watch();
      return {
        signal: over.signal,
        check: () => over.signal.throwIfAborted(),
        release: () => released.abort(),
      };
    },
  };
}

/** In ms: how old a confirmation may be by which a process begins to act. */
const FRESH = 5 * 60_000;

/** In ms, from one look to the next while an operation runs. */
const PERIOD = 20_000;

const latestOf = (memories: readonly BindingMemory[]): string =>
  memories
    .map(({ confirmedAt = "it was bound" }) => confirmedAt)
    .toSorted()
    .at(-1) ?? "it was bound";

import { createCopyCheck, type CopyCheckDeps } from "../binding/copy-check.ts";
import { inWords, refOf } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { errorMessage, OperationRefused } from "./errors.ts";
import type { Guard } from "./guard.ts";
import { monotonicClock, type Clock } from "./lease.ts";

/** How the guard reads the bindings of the objects' cluster; the clocks are the process's own unless a test passes others. */
export interface BindingGuardOptions extends CopyCheckDeps {
  readonly log: Logger;
  readonly clock?: Clock;
}

/** Refuses operations in a restored copy of a cluster, by {@link createCopyCheck}, and ends those that run when the copy is refused. */
export function createBindingGuard({ log, clock = monotonicClock, ...deps }: BindingGuardOptions): Guard {
  const copies = createCopyCheck(deps);

  /** Throws `OperationRefused` where this cluster may not act. */
  const require = async (who: string): Promise<void> => {
    const refusal = await copies.refusal();
    if (refusal !== undefined) throw new OperationRefused(`cannot act for ${who}: ${refusal.reason}`);
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
          const error: unknown = await require(who).catch((reason: unknown) => reason);
          if (error instanceof OperationRefused) {
            log.warn({ object: who, err: error }, "binding lost");
            return over.abort(error);
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

/** In ms, from one look to the next while an operation runs. */
const PERIOD = 20_000;

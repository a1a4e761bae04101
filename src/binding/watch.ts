import { BoundElsewhere } from "./bound-elsewhere.ts";
import type { Logger } from "../log.ts";

/** What is looked at again and again; times are ms. */
export interface BindingWatchDeps {
  /** Says whether all is bound; throws `BoundElsewhere`. */
  readonly look: () => Promise<boolean>;
  /** Called when something is found to be bound elsewhere later on; ends the process unless told otherwise. */
  readonly onElsewhere?: (error: BoundElsewhere) => void;
  readonly log: Logger;
  readonly period?: number;
}

/** Watches what a process is bound to, as long as it runs. */
export interface BindingWatch {
  /** Resolves once all is bound to this process' clusters. */
  readonly bound: Promise<void>;
  stop(): void;
}

/**
 * Looks until everything has answered, and throws where something is bound elsewhere. Then it looks every half minute, and every two seconds
 * while something does not exist yet: a binding may be made, or be changed by an operator, while the process runs.
 */
export async function watchBinding(deps: BindingWatchDeps): Promise<BindingWatch> {
  const { look, log, period = 30_000, onElsewhere = (error) => endProcess(error, log) } = deps;
  const bound = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const schedule = (isBound: boolean) => {
    if (isBound) bound.resolve();
    if (!stopped) timer = setTimeout(() => void lookAgain(), isBound ? period : Math.min(period, UNSETTLED_PERIOD));
  };
  const lookAgain = async () => {
    try {
      schedule(await look());
    } catch (error) {
      if (error instanceof BoundElsewhere) return onElsewhere(error);
      log.warn({ err: error }, "cannot look at the bindings");
      schedule(false);
    }
  };

  const lookFirst = async (): Promise<boolean> => {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (error instanceof BoundElsewhere) throw error;
        log.warn({ err: error }, "cannot look at the bindings");
        await new Promise((resolve) => setTimeout(resolve, UNSETTLED_PERIOD));
      }
    }
  };

  schedule(await lookFirst());
  return {
    bound: bound.promise,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const UNSETTLED_PERIOD = 2_000;

/** As an operator would: what is under way is finished, and nothing is begun. A supervisor's next try is refused at once. */
function endProcess(error: BoundElsewhere, log: Logger): void {
  log.error({ err: error }, "bound elsewhere");
  process.exitCode = 1;
  process.kill(process.pid, "SIGTERM");
}

import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import type { Processes, ProcessStatus } from "../process/processes.ts";

/** The name of the process. */
export const supervisorName = "supervisor";

/** What keeps an environment's processes alive. */
export interface Supervisor {
  /** The pid under which the environment knows it: when the environment is gone, or knows another, it ends. */
  readonly pid: number;
  readonly processes: Pick<Processes, "list" | "revive">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly pace?: Pace;
}

/** How fast it acts, in milliseconds. */
export interface Pace {
  /** Between two looks at the processes. */
  readonly look: number;
  /** Before a process that has died is started again; twice as long each time that it dies again, up to `most`. */
  readonly first: number;
  readonly most: number;
  /** A process that has lived so long has got over it. */
  readonly calm: number;
}

/**
 * Starts again what dies in an environment, until it is told to end. It starts nothing that was ended on purpose, and what a
 * signal has stopped is not dead.
 */
export async function supervise({ pid, processes, log, signal, pace = usualPace }: Supervisor): Promise<void> {
  const mourned = new Map<string, { readonly pause: number; readonly due?: number }>();

  const attend = async ({ name, running, startedAt }: ProcessStatus): Promise<void> => {
    const now = Date.now();
    const { pause, due } = mourned.get(name) ?? { pause: pace.first };
    if (running) {
      if (now - Date.parse(startedAt) >= pace.calm) mourned.delete(name);
      else if (due !== undefined) mourned.set(name, { pause });
    } else if (due === undefined) {
      log.warn({ process: name, pause }, "process has died");
      mourned.set(name, { pause, due: now + pause });
    } else if (now >= due) {
      mourned.set(name, { pause: Math.min(2 * pause, pace.most) });
      await revive(name);
    }
  };

  // A failure is one more death: there is a next try, after a longer pause.
  const revive = async (name: string): Promise<void> => {
    try {
      if (await processes.revive(name)) log.info({ process: name }, "process started again");
    } catch (err) {
      log.error({ process: name, err }, "process cannot be started again");
    }
  };

  while (!signal.aborted) {
    const known = await processes.list();
    if (known.find(({ name }) => name === supervisorName)?.pid !== pid) return;
    for (const process of known) if (!signal.aborted) await attend(process);
    await delay(pace.look, undefined, { signal }).catch(() => undefined);
  }
}

const usualPace: Pace = { look: 1_000, first: 1_000, most: 60_000, calm: 60_000 };

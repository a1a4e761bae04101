import { setTimeout as delay } from "node:timers/promises";
import { MACHINE_SEED_LABEL } from "../../api/labels.ts";
import type { Logger } from "../../log.ts";
import type { Machines } from "../machine/machines.ts";

/** What keeps the machines alive that seeds' pods run on. */
export interface MachineSupervisor {
  readonly machines: Pick<Machines, "list" | "revive">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks at the machines. */
  readonly look?: number;
}

/** Boots machines of seeds that went down, until it is told to end. Those of Shoots are their provider's to boot. */
export async function superviseMachines({ machines, log, signal, look = 5_000 }: MachineSupervisor): Promise<void> {
  while (!signal.aborted) {
    const known = await machines.list();
    for (const { name, running, labels } of known) {
      if (running || labels[MACHINE_SEED_LABEL] === undefined || signal.aborted) continue;
      // The next look is the retry.
      await machines
        .revive(name)
        .catch((err: unknown) => log.error({ machine: name, err }, "machine cannot be booted"));
    }
    await delay(look, undefined, { signal }).catch(() => undefined);
  }
}

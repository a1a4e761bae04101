import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import type { Runner } from "../volumes.ts";

/** When rounds follow each other, in ms after the end of the one before, and what is logged of one that fails. */
interface Rounds {
  readonly period: number;
  readonly failure: string;
  readonly log: Logger;
}

/** Does the same work again and again until it is stopped. A round that fails is logged: the next one is its retry. */
export function createRounds(round: (signal: AbortSignal) => Promise<void>, { period, failure, log }: Rounds): Runner {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();
  const run = async () => {
    while (!signal.aborted) {
      await round(signal).catch((error: unknown) => log.warn({ err: error }, failure));
      await sleep(period, undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    start: () => void (running = run()),
    synced: async () => undefined,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

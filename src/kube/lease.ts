import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.ts";
import type { KubeClient } from "./client.ts";
import { monotonicNow } from "./clock.ts";
import { isAlreadyExists, isConflict } from "./errors.ts";
import { createLeaseRecord } from "./lease-record.ts";

/** The Lease that a process stands for, and its work as the leader. */
export interface LeaseElectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Who we are; no other process may use the same. */
  readonly identity: string;
  /**
   * What only the leader does. `signal` aborts when the lead is lost or the elector stops; then it must end. `check` throws
   * from then on, as the clock says at this very moment: after a pause of the process, timers abort the signal late.
   */
  lead(signal: AbortSignal, check: () => void): Promise<void>;
  readonly log: Logger;
  readonly timing?: LeaseTiming;
}

/** Milliseconds. A leader gives up after `renewWithin` without a renewal; others take over after `expireAfter`. */
export interface LeaseTiming {
  readonly expireAfter: number;
  readonly renewWithin: number;
  readonly retryEvery: number;
}

/** A candidate for a Lease. */
export interface LeaseElector {
  start(): void;
  leading(): boolean;
  /** Ends the lead, waits for it to have ended, and gives the Lease back so that the next takes over at once. */
  stop(): Promise<void>;
}

/** When the last successful attempt to hold the Lease began. */
interface Holding {
  since: number;
}

/** Leader election by a coordination.k8s.io Lease, as client-go does it, with the same timing unless told otherwise. */
export function createLeaseElector(o: LeaseElectorOptions): LeaseElector {
  const { client, namespace, name, identity, lead } = o;
  const timing = o.timing ?? { expireAfter: 15_000, renewWithin: 10_000, retryEvery: 2_000 };
  const log = o.log.child({ lease: `${namespace}/${name}`, identity });
  const record = createLeaseRecord({ client, namespace, name, identity, expireAfter: timing.expireAfter });
  const stopping = new AbortController();
  let leading = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const held = { since: monotonicNow() };
      if (!(await tryAcquire(timing.renewWithin))) await pause(timing.retryEvery, stopping.signal);
      else if (stopping.signal.aborted) await letGo();
      else await serve(held);
    }
  }

  /** Leads until the Lease is lost, the work ends or the elector stops. */
  async function serve(held: Holding): Promise<void> {
    const term = new AbortController();
    const endTerm = () => term.abort(new Error(`Lease ${namespace}/${name} is not held any more`));
    const check = () => {
      if (left(held) <= 0) endTerm();
      term.signal.throwIfAborted();
    };
    stopping.signal.addEventListener("abort", endTerm);
    leading = true;
    log.info("leading");
    const work = lead(term.signal, check)
      .catch((error: unknown) => {
        if (!term.signal.aborted) log.error({ err: error }, "the leader's work failed");
      })
      .finally(endTerm);
    await keep(held, term.signal);
    leading = false;
    endTerm();
    stopping.signal.removeEventListener("abort", endTerm);
    await work;
    await letGo();
    log.info("no longer leading");
  }

  async function letGo(): Promise<void> {
    await record.release().catch((error: unknown) => log.warn({ err: error }, "the lease runs out by itself"));
  }

  /** Renews until another process has the Lease, or until `renewWithin` after the last successful attempt began. */
  async function keep(held: Holding, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(timing.retryEvery, signal);
      if (signal.aborted || left(held) <= 0) return;
      const startedAt = monotonicNow();
      const ours = await tryAcquire(left(held));
      if (ours === false) return;
      if (ours === true) held.since = startedAt;
    }
  }

  const left = ({ since }: Holding) => since + timing.renewWithin - monotonicNow();

  /** Whether we hold the Lease now; undefined when that could not be found out in time. */
  async function tryAcquire(within: number): Promise<boolean | undefined> {
    const answered = new AbortController();
    const tooLate = pause(within, answered.signal).then(() => undefined);
    const attempt = record.acquire().catch((error: unknown) => {
      if (!isConflict(error) && !isAlreadyExists(error)) log.warn({ err: error }, "cannot acquire the lease");
      return undefined;
    });
    return Promise.race([attempt, tooLate]).finally(() => answered.abort());
  }

  return {
    start: () => void (running ??= run()),
    leading: () => leading,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(ms, 0), undefined, { signal }).catch(() => {});
}

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { createLeaseElector, type KubeClient, type LeaseTiming } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Guard } from "./guard.ts";

/** What runs in the leader only, such as an ExtensionController or a Heartbeat. */
export interface Part {
  start(): void;
  /** Resolves when what ran has ended. */
  stop(): Promise<void>;
}

/** For what replicas of an extension stand, and what the leader does. */
export interface ElectionOptions {
  readonly client: KubeClient;
  /** The extension's own. */
  readonly namespace: string;
  /** The extension's name: its Lease is `<name>-leader-election`. */
  readonly name: string;
  /** Makes the parts of one term: what has been stopped is not started again. Hand the guard to every controller. */
  readonly parts: (guard: Guard) => readonly Part[];
  readonly log: Logger;
  /** As client-go's unless told otherwise; only tests want another. */
  readonly timing?: LeaseTiming;
}

/** One replica: it waits until it leads. */
export interface Election {
  start(): void;
  leading(): boolean;
  /** Ends the lead, waits for what runs, and gives the Lease back, so that the next replica takes over at once. */
  stop(): Promise<void>;
}

/**
 * Of all replicas of an extension, runs the parts in one: the holder of a Lease. The others wait with everything at hand and
 * try every two seconds. A leader that could not renew for 10 s ends its operations; 5 s later, at the soonest, another begins.
 *
 * What it cannot do is what the leadership guard cannot do: see `createLeadershipGuard`.
 */
export function createElection({ namespace, name, parts, ...o }: ElectionOptions): Election {
  return createLeaseElector({
    ...o,
    ...{ namespace, name: `${name}-leader-election`, identity: `${hostname()}_${randomUUID()}` },
    async lead(signal, check) {
      const running = parts(guardOf(signal, check));
      for (const part of running) part.start();
      if (!signal.aborted) await once(signal, "abort");
      await Promise.all(running.map((part) => part.stop()));
    },
  });
}

/** Lets operations run during one term. */
function guardOf(signal: AbortSignal, check: () => void): Guard {
  return {
    async enter() {
      check();
      return { signal, check, release: () => undefined };
    },
  };
}

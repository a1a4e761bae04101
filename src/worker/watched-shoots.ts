import type { ShootClients } from "../activities/shoot/clients.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createWatchedLists, type WatchedLists } from "./watched-lists.ts";

/** The Shoots of a seed, each with lists that watches keep up to date. */
export interface WatchedShoots {
  /** Undefined while there is no kubeconfig for the Shoot. */
  get(namespace: string): Promise<WatchedShoot | undefined>;
  /** Ends the watches of a Shoot that is gone, or does not answer; the next time, its kubeconfig is read again. */
  forget(namespace: string): void;
  stop(): Promise<void>;
}

/** A Shoot's API server: what it is asked, and what is known of it. */
export type WatchedShoot = Pick<KubeClient, "get"> & WatchedLists;

/** A kubeconfig is read again now and then: certificates are renewed long before they expire. */
export function createWatchedShoots(
  shootClients: ShootClients,
  log: Logger,
  longestTrust = LONGEST_TRUST,
): WatchedShoots {
  const known = new Map<string, { client: KubeClient; shoot: WatchedShoot; until: number }>();

  const forget = (namespace: string) => {
    const shoot = known.get(namespace)?.shoot;
    known.delete(namespace);
    shoot?.stop().catch((error: unknown) => log.warn({ namespace, err: error }, "cannot end the watches of a Shoot"));
  };

  return {
    async get(namespace) {
      const before = known.get(namespace);
      if (before !== undefined && Date.now() < before.until) return before.shoot;
      const client = await shootClients.get(namespace).catch(() => undefined);
      const until = Date.now() + longestTrust;
      if (client !== undefined && client === before?.client) {
        known.set(namespace, { ...before, until });
        return before.shoot;
      }
      forget(namespace);
      if (client === undefined) return undefined;
      const shoot = { ...createWatchedLists(client, log, { most: MOST }), get: client.get };
      known.set(namespace, { client, shoot, until });
      return shoot;
    },
    forget,
    async stop() {
      const shoots = [...known.values()].map(({ shoot }) => shoot.stop());
      known.clear();
      await Promise.all(shoots);
    },
  };
}

/** In characters of JSON, of each list of a Shoot: what 2,000 nodes take. Its users write it, and all Shoots share the worker. */
const MOST = 8_000_000;

/** In ms. */
const LONGEST_TRUST = 3_600_000;

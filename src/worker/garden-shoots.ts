import { setImmediate } from "node:timers/promises";
import { NamedShoot, toNamedShoot, type GardenShoots } from "../activities/shoot/garden-shoots.ts";
import type { Shoot } from "../api/index.ts";
import { createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Followed } from "./first-lists.ts";
import { inTime } from "./in-time.ts";

/** The Shoots of a garden as a watch knows them, however often they are asked for. */
export interface WatchedGardenShoots extends GardenShoots, Followed {
  start(): void;
  stop(): Promise<void>;
}

/** Follows a garden's Shoots. `timeout` is how long, in ms, the watch may be behind a Shoot that is asked about. */
export function createGardenShoots(
  gardenClient: KubeClient,
  log: Logger,
  { timeout = 10_000 }: { readonly timeout?: number } = {},
): WatchedGardenShoots {
  const waiting = new Set<() => void>();
  const watch = createReflector(gardenClient, NamedShoot, {
    log,
    keep: toNamedShoot,
    onEvent: () => waiting.forEach((check) => check()),
  });

  const knows = ({ metadata: { namespace, name, uid }, spec }: Shoot): boolean => {
    const known = watch.get(name, namespace);
    return known?.metadata.uid === uid && known?.spec.dns?.domain === spec.dns?.domain;
  };

  /** An API server sends a watch's events in the order of the writes, so a watch that knows a Shoot knows all that were written before it. */
  async function untilKnown(shoot: Shoot): Promise<void> {
    if (knows(shoot)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => void (knows(shoot) && resolve());
    waiting.add(check);
    const late = () => behind(shoot, timeout, watch.failure()?.error);
    await inTime(promise, timeout, late).finally(() => waiting.delete(check));
  }

  return {
    async asOf(shoot) {
      await untilKnown(shoot);
      await setImmediate(); // a list is taken up without I/O in between, but object by object
      return watch.list();
    },
    start: watch.start,
    synced: watch.synced,
    failure: watch.failure,
    stop: watch.stop,
  };
}

function behind({ metadata: { namespace, name } }: Shoot, timeout: number, cause: unknown): Error {
  return new Error(
    `cannot compare Shoot ${namespace}/${name} with the garden's other Shoots: the watch of Shoots has not reported it within ${timeout / 1_000} s; see the worker's log for why the watch is behind`,
    { cause },
  );
}

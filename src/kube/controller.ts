import type { Key } from "../api/schema/kind.ts";
import type { Logger } from "../log.ts";
import { backoffDelay } from "./backoff.ts";
import { createFairQueue, idOf } from "./fair-queue.ts";

/** A controller's work and how fast it does it; times are ms. */
export interface ControllerOptions<K extends Key = Key> {
  readonly name: string;
  /** Brings one object to where it should be. It reads the object itself; `signal` aborts when the controller stops. */
  reconcile(key: K, context: { readonly signal: AbortSignal }): Promise<void | { readonly requeueAfter: number }>;
  /** How many keys at once; 4 unless told otherwise. */
  readonly concurrency?: number;
  /** The longest time, in ms, after which a key that failed comes back; a minute unless told otherwise. */
  readonly longestDelay?: number;
  readonly log: Logger;
}

/** A queue of keys, of which each namespace has its share, and the loop that works it off. */
export interface Controller<K extends Key = Key> {
  /** Asks for a reconciliation. Asking again before it began changes nothing; asking while it runs gives one more run. */
  enqueue(key: K): void;
  /** How many keys wait to be worked on; those that come back later are not among them yet. */
  depth(): number;
  start(): void;
  /** Begins no further key; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** A controller: a key never runs twice at once, and one that fails comes back after 0.2 s, doubling up to `longestDelay`. */
export function createController<K extends Key = Key>({
  name,
  reconcile,
  concurrency = 4,
  longestDelay = 60_000,
  log: parent,
}: ControllerOptions<K>): Controller<K> {
  const log = parent.child({ controller: name });
  const waiting = createFairQueue<K>();
  const running = new Map<string, Promise<void>>();
  const later = new Map<string, NodeJS.Timeout>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  let started = false;

  function enqueue(key: K): void {
    waiting.add(key);
    next();
  }

  function next(): void {
    if (!started || stopping.signal.aborted) return;
    while (running.size < concurrency) {
      const key = waiting.take((id) => !running.has(id));
      if (key === undefined) return;
      const id = idOf(key);
      const run = work(id, key).finally(() => {
        running.delete(id);
        next();
      });
      running.set(id, run);
    }
  }

  async function work(id: string, key: K): Promise<void> {
    clearTimeout(later.get(id));
    later.delete(id);
    try {
      const result = await reconcile(key, { signal: stopping.signal });
      failures.delete(id);
      if (result !== undefined) enqueueLater(id, key, result.requeueAfter);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const before = failures.get(id) ?? 0;
      failures.set(id, before + 1);
      log.error({ object: id, failures: before + 1, err: error }, "reconcile failed");
      enqueueLater(id, key, backoffDelay(before, { first: 200, most: longestDelay }, error));
    }
  }

  function enqueueLater(id: string, key: K, delay: number): void {
    if (stopping.signal.aborted) return;
    const timer = setTimeout(
      () => {
        later.delete(id);
        enqueue(key);
      },
      Math.min(delay, LONGEST_TIMER),
    );
    later.set(id, timer);
  }

  return {
    enqueue,
    depth: () => waiting.size(),
    start() {
      started = true;
      next();
    },
    async stop() {
      stopping.abort();
      waiting.clear();
      for (const timer of later.values()) clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}

/** In ms: a timer for longer would end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

import type { Scope, TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Logger } from "../log.ts";
import { createBackoff } from "./backoff.ts";
import type { Keeping, KubeClient, Selection } from "./client.ts";
import { isExpired, KubeError } from "./errors.ts";
import type { WatchEvent } from "./watch-stream.ts";
import { now } from "./time.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { createObjectCache, type Change } from "./object-cache.ts";
import { createRoom } from "./room.ts";

/** The objects that a reflector follows, and the handler of their changes. */
export interface ReflectorOptions<T extends KubeObject, S extends Scope = Scope>
  extends Selection<S>, Pick<Keeping<T>, "most"> {
  /** The first that listens. */
  readonly onEvent?: Listener<T>;
  /**
   * What of an object is remembered, metadata at least: the whole of it unless told otherwise. Of objects that are listed, listeners are
   * called with that, too: a list as a whole never is in memory.
   */
  readonly keep?: (object: T) => T;
  /** Whether listeners are called with the whole of each object that is listed. Only for kinds that no user writes: all of them are in memory at once. */
  readonly listensToWhole?: boolean;
  readonly log?: Logger;
  /** A clock in ms that no step of the wall clock moves; defaults to the process's. */
  readonly time?: () => number;
}

/** Called for one change after the other, after the cache was updated. An error it throws is logged and goes no further. */
export type Listener<T extends KubeObject> = (event: Change<T>) => void | Promise<void>;

/** A local copy of the objects of a kind that follows the server through restarts, throttling and lost history. */
export interface Reflector<T extends KubeObject> {
  start(): void;
  /** From now on, one more that hears of each change, after those that came before it. */
  listen(listener: Listener<T>): void;
  /** Resolves when the first complete list is in the cache and its events were handled. */
  synced(): Promise<void>;
  get(name: string, namespace?: string): T | undefined;
  list(namespace?: string): T[];
  /** Why there was no list when one was asked for last, and since when there has been none; undefined once there is one. */
  failure(): ListFailure | undefined;
  /** Whether the watch is not broken, and the server was heard of late: what is cached is at most two and a half minutes behind. */
  isCurrent(): boolean;
  /** How long ago the server was heard of last, in ms, also while the watch is broken; Infinity before the first list. */
  silence(): number;
  /** Resolves when no event is being handled any more. */
  stop(): Promise<void>;
}

/** A list that a reflector asks for in vain: it goes on asking. */
export interface ListFailure {
  /** When it was asked for in vain first, RFC 3339. */
  readonly since: string;
  /** What came of it when it was asked for last. */
  readonly error: unknown;
}

/** A reflector; events missed while the connection was down are made up for by comparing the next list with the cache. */
export function createReflector<T extends KubeObject, S extends Scope>(
  client: KubeClient,
  type: TypeRef<T, S>,
  {
    onEvent,
    keep,
    most = client.bounds?.largestList,
    listensToWhole = false,
    log,
    time = () => performance.now(),
    ...selection
  }: ReflectorOptions<T, S>,
): Reflector<T> {
  const cache = createObjectCache<T>(keep, most === undefined ? undefined : createRoom(type, most));
  const listed = { ...selection, ...omitUndefined({ most, keep: listensToWhole ? undefined : keep }) };
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff({ first: 250, most: 15_000 });
  const firstList = Promise.withResolvers<void>();
  firstList.promise.catch(() => {});
  const context = { server: client.server, kind: type.kind, ...selection };
  const listeners = onEvent === undefined ? [] : [onEvent];
  let running: Promise<void> | undefined;
  let failed: ListFailure | undefined;
  /** Undefined while the watch is broken. */
  let heard: number | undefined;
  let heardLast = -Infinity;
  /** Since when nothing has interrupted the watch; undefined while it is broken. */
  let steadySince: number | undefined;
  /** Whether an interruption was told of; the next one is, once the watch has been steady again. */
  let isTold = false;
  const hear = () => {
    heard = heardLast = time();
    steadySince ??= heard;
  };

  /** One outage has many interruptions, and an API server that moves breaks watches several times: each is told of once. */
  function tell(error: unknown): void {
    if (steadySince !== undefined && time() - steadySince > STEADY) isTold = false;
    steadySince = undefined;
    const level = isExpired(error) || isTold ? "debug" : "warn";
    log?.[level]({ ...context, err: error }, "watch interrupted");
    isTold ||= level === "warn";
  }

  async function run(): Promise<void> {
    let version: string | undefined;
    while (!signal.aborted) {
      const startedAt = Date.now();
      try {
        version ??= await relist();
        for await (const event of client.watch(type, { ...selection, resourceVersion: version, signal })) {
          version = event.object.metadata.resourceVersion ?? version;
          await take(event);
          letGo(event);
        }
      } catch (error) {
        heard = undefined;
        if (signal.aborted) return;
        if (!isInterruption(error)) version = undefined;
        tell(error);
        await backoff.wait(signal, error);
        continue;
      }
      // A server that ends watches at once must not be asked in a tight loop.
      if (Date.now() - startedAt < 1_000) await backoff.wait(signal);
    }
  }

  async function take(event: WatchEvent<T>): Promise<void> {
    if (event.type !== "BOOKMARK") await deliver(cache.take(event.type, event.object));
    hear();
    backoff.reset();
  }

  async function relist(): Promise<string> {
    const { items, resourceVersion } = await client.snapshot(type, listed).catch((error: unknown) => {
      failed = { since: failed?.since ?? now(), error };
      throw error;
    });
    failed = undefined;
    for (const change of cache.replaceAll(items, listensToWhole ? keep : undefined)) await deliver([change]);
    hear();
    firstList.resolve();
    return resourceVersion;
  }

  async function deliver(changes: readonly Change<T>[]): Promise<void> {
    for (const change of changes)
      for (const listener of listeners) {
        if (signal.aborted) return;
        try {
          await listener(change);
        } catch (error) {
          const { namespace, name } = change.object.metadata;
          log?.error({ ...context, namespace, object: name, err: error }, "event handler failed");
        }
      }
  }

  return {
    start: () => void (running ??= run()),
    listen: (listener) => void listeners.push(listener),
    synced: () => firstList.promise,
    get: cache.get,
    list: cache.list,
    failure: () => failed,
    silence: () => time() - heardLast,
    isCurrent: () => heard !== undefined && time() - heard < SILENCE,
    async stop() {
      firstList.reject(new Error(`the watch for ${type.kind} was stopped before its first list`));
      stopping.abort();
      await running;
    },
  };
}

/**
 * Empties an event that was handled. The generators that it came through hold it until the next one comes: each idle watch would hold what it
 * was told last, which can be 30 MB.
 */
const letGo = (event: { object?: unknown }): void => void (event.object = undefined);

/** In ms. Servers send a bookmark each minute where nothing happens; a connection that is silent for so long is given up. */
const SILENCE = 150_000;

/** In ms: for how long a watch is not interrupted before its next interruption is news. */
const STEADY = 60_000;

/** Whether the history may still be there: the connection was lost or the server is busy. Anything else needs a new list. */
function isInterruption(error: unknown): boolean {
  return error instanceof KubeError && [0, 429, 503].includes(error.status);
}

import type { TypeRef } from "../../api/schema/kind.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createNotes } from "./notes.ts";

/** The objects of a kind as the API server has them, and as they were admitted besides. */
export interface WatchedKind<T extends KubeObject = KubeObject> {
  start(): void;
  synced(): Promise<void>;
  /**
   * Lists every version of an object that may be stored: the one that the watch told of first, then those that were admitted.
   * Throws when the API server has not been heard of for so long that what is known may be wrong.
   */
  list(namespace?: string): T[];
  /** Counts an object as written, in place of `old`, besides what is stored. False where too many of its namespace are noted. */
  note(object: T, old?: T): boolean;
  stop(): Promise<void>;
}

/** Watches a kind; `keep` says what is remembered of an object. `time` is ms. */
export function createWatchedKind<T extends KubeObject>({
  client,
  type,
  keep,
  log,
  time = () => performance.now(),
}: {
  readonly client: KubeClient;
  readonly type: TypeRef<T>;
  readonly keep: (object: T) => T;
  readonly log: Logger;
  readonly time?: () => number;
}): WatchedKind<T> {
  const notes = createNotes<T>({ keep, time, heard: () => time() - reflector.silence() });
  const reflector: Reflector<T> = createReflector(client, type, { log, keep, time, onEvent: notes.settle });
  return {
    start: reflector.start,
    synced: reflector.synced,
    stop: reflector.stop,
    list(namespace) {
      const silence = reflector.silence();
      if (silence > LONGEST_SILENCE) {
        const since = Number.isFinite(silence) ? `for ${Math.round(silence / 1_000)} s` : "yet";
        throw new Error(
          `cannot judge by ${type.kind}s: the watch of them has not been heard of ${since}: try again when the API server answers the manager`,
        );
      }
      return [...reflector.list(namespace), ...notes.list(namespace)];
    },
    note: notes.take,
  };
}

/** In ms: API servers send bookmarks each minute, and a silent watch is given up after this. */
const LONGEST_SILENCE = 150_000;

import { isDeepStrictEqual } from "node:util";
import type { TypeRef } from "../../api/schema/kind.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, refOf, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The objects of a kind as the API server has them, and as they were admitted last. */
export interface WatchedKind<T extends KubeObject = KubeObject> {
  start(): void;
  synced(): Promise<void>;
  /** Throws when the API server has not been heard of for so long that what is known may be wrong. */
  list(namespace?: string): Promise<T[]>;
  /** Counts an object as written from now on. */
  note(object: T): void;
  stop(): Promise<void>;
}

/** An object that was admitted, and is not known to be written. */
interface Note<T> {
  readonly object: T;
  readonly at: number;
  /** It was read since, so that it is known whether it was written. */
  readonly isRead: boolean;
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
  const notes = new Map<string, Note<T>>();
  const reflector = createReflector(client, type, {
    ...{ log, keep },
    onEvent({ type: change, object }) {
      const key = keyOf(object);
      const noted = notes.get(key)?.object;
      if (noted === undefined) return;
      const isGone = change === "deleted" && [undefined, object.metadata.uid].includes(noted.metadata.uid);
      if (isGone || isDeepStrictEqual(contentOf(noted), contentOf(keep(object)))) notes.delete(key);
    },
  });

  /** An admitted object may never have been written: another webhook has refused it, or its sender has gone. */
  async function settle(): Promise<void> {
    for (const [key, { object, at, isRead }] of notes) {
      const age = time() - at;
      if (age > LONGEST_SILENCE) notes.delete(key);
      else if (age > LONGEST_WRITE && !isRead) {
        const live = await client.read(refOf(object));
        if (live === undefined) notes.delete(key);
        else notes.set(key, { object: keep(live), at, isRead: true });
      }
    }
  }

  return {
    start: reflector.start,
    synced: reflector.synced,
    stop: reflector.stop,
    async list(namespace) {
      const silence = reflector.silence();
      if (silence > LONGEST_SILENCE) {
        const since = Number.isFinite(silence) ? `for ${Math.round(silence / 1_000)} s` : "yet";
        throw new Error(
          `cannot judge by ${type.kind}s: the watch of them has not been heard of ${since}: try again when the API server answers the manager`,
        );
      }
      await settle();
      const noted = [...notes.values()].map(({ object }) => object);
      const cached = reflector.list(namespace).filter((object) => !notes.has(keyOf(object)));
      return [...cached, ...noted.filter(({ metadata }) => [undefined, metadata.namespace].includes(namespace))];
    },
    note: (object) => void notes.set(keyOf(object), { object: keep(object), at: time(), isRead: false }),
  };
}

/** In ms: API servers send bookmarks each minute, and a silent watch is given up after this. Noted objects count for as long. */
const LONGEST_SILENCE = 150_000;

/** In ms: what an API server has not written by then, it does not write: webhooks answer within 10 s, requests end after 60. */
const LONGEST_WRITE = 60_000;

const keyOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;

/** All but the metadata, and the status, which is written by itself. */
function contentOf({ metadata: _, status: __, ...content }: KubeObject): unknown {
  return content;
}

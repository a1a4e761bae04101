import { setTimeout as sleep } from "node:timers/promises";
import { definitionOf, type ExtensionKind, type ExtensionObject } from "../api/extensions/kinds.ts";
import { createReflector, type Key, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** An object as the API server told of it. */
export interface Version {
  /** When that was heard, in ms since 1970. */
  readonly at: number;
  readonly object: ExtensionObject;
  /** The object was deleted; `object` is how it was last. */
  readonly gone: boolean;
}

/** Whether something has come about; if not, what is missing. */
export type Progress = { readonly reached: true } | { readonly reached: false; readonly message: string };

/** Everything that happens to one object, heard by a watch. */
export interface Recording {
  /** The versions from the one that a write answered with; they may not have been heard of yet. */
  since(object: ExtensionObject): readonly Version[];
  /** Resolves as soon as the versions since `object` satisfy `check`, or with the last refusal after `timeout` ms. */
  until(object: ExtensionObject, check: (versions: readonly Version[]) => Progress, timeout: number): Promise<Progress>;
  /** Resolves when nothing has been heard of for `ms`, or after `timeout` ms. */
  quiet(ms: number, timeout: number): Promise<void>;
  stop(): Promise<void>;
}

/** Begins to listen; resolves when nothing that is written from now on can be missed. Nothing is waited for once the signal aborts. */
export async function record(
  client: KubeClient,
  kind: ExtensionKind,
  { name, namespace }: Key,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<Recording> {
  const versions: Version[] = [];
  const listeners = new Set<() => void>();
  const reflector = createReflector(client, definitionOf(kind), {
    fieldSelector: `metadata.name=${name}`,
    ...(namespace !== undefined && { namespace }),
    log,
    onEvent({ type, object }) {
      versions.push({ at: Date.now(), object, gone: type === "deleted" });
      for (const listener of listeners) listener();
    },
  });
  reflector.start();
  await reflector.synced();

  const since = (object: ExtensionObject) => {
    const { resourceVersion } = object.metadata;
    const begin = versions.findIndex((version) => version.object.metadata.resourceVersion === resourceVersion);
    return begin < 0 ? [] : versions.slice(begin);
  };

  return {
    since,
    until: (object, check, timeout) =>
      new Promise((resolve) => {
        const look = (): Progress => {
          const seen = since(object);
          return seen.length === 0 ? { reached: false, message: "the watch has not told of the request" } : check(seen);
        };
        const end = (progress: Progress) => {
          listeners.delete(listen);
          signal.removeEventListener("abort", stop);
          clearTimeout(timer);
          resolve(progress);
        };
        const listen = () => {
          const progress = look();
          if (progress.reached) end(progress);
        };
        const stop = () => end(look());
        const timer = setTimeout(stop, signal.aborted ? 0 : timeout);
        signal.addEventListener("abort", stop);
        listeners.add(listen);
        listen();
      }),
    async quiet(ms, timeout) {
      const deadline = Date.now() + timeout;
      let heard = -1;
      while (heard !== versions.length && Date.now() < deadline && !signal.aborted) {
        heard = versions.length;
        await sleep(ms);
      }
    },
    stop: () => reflector.stop(),
  };
}
